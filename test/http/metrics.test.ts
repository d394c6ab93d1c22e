import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { DocshelfError } from '../../src/domain/errors.ts';
import { Metrics, SiteMetrics } from '../../src/http/metrics/metrics.ts';
import { READINGS } from './admin/admin-example.ts';

const DIGESTS = { one: '1'.repeat(64), two: '2'.repeat(64) };
const SERVED = {
  listener: 'site',
  method: 'GET',
  path: '/',
  status: 404,
  bytes: 500,
  durationMs: 3,
  requestId: 'r',
  peer: '127.0.0.1',
  forwardedFor: undefined,
} as const;

/** Readings of a site with a value for each gauge. */
const busySite = (site: string) => ({
  ...{ site, state: 'ready' as const, search: { waiting: 1, builtAtMs: 1 }, linkEndsAtMs: 1, isFetchFailing: true },
  active: [{ version: 'v1', digest: DIGESTS.one, activatedAt: '2026-01-01T00:00:00Z' }],
});

async function linesOf(metrics: Metrics): Promise<string[]> {
  return (await metrics.expose(READINGS)).split('\n');
}

/** Blocks the main thread long enough for the next measurement of the event loop. */
async function delayMainThread(): Promise<void> {
  await setTimeout(120);
  const untilMs = performance.now() + 400;
  while (performance.now() < untilMs);
  await setTimeout(120);
}

describe('Metrics', () => {
  it('counts requests by status class, and records the bytes and the duration of their responses', async () => {
    const metrics = new Metrics();
    metrics.onRequest(SERVED);
    metrics.onRequest({ ...SERVED, status: 200, bytes: 100, durationMs: 0.2 });
    const lines = await linesOf(metrics);
    expect(lines).toContain('docshelf_http_requests_total{listener="site",class="4xx"} 1');
    expect(lines).toContain('docshelf_http_requests_total{listener="site",class="2xx"} 1');
    expect(lines).toContain('docshelf_http_response_bytes_total{listener="site"} 600');
    expect(lines).toContain('docshelf_http_request_duration_seconds_bucket{le="0.0005",listener="site"} 1');
    expect(lines).toContain('docshelf_http_request_duration_seconds_count{listener="site"} 2');
  });

  it('counts searches by result, counts corrected queries, and excludes failed searches from the duration', async () => {
    const metrics = new Metrics();
    const site = metrics.forSite('acme');
    site.onSearch({ result: 'found', isCorrected: false, seconds: 0.003 });
    site.onSearch({ result: 'none', isCorrected: true, seconds: 0.2 });
    site.onSearch({ result: 'failed', isCorrected: false, seconds: 30 });
    const reading = { waiting: 12, builtAtMs: 1_700_000_000_000 };
    const text = await metrics.expose({ ...READINGS, states: [{ site: 'acme', state: 'ready', search: reading }] });
    const lines = text.split('\n');
    for (const result of ['found', 'none', 'failed'])
      expect(lines).toContain(`docshelf_searches_total{site="acme",result="${result}"} 1`);
    expect(lines).toContain('docshelf_search_corrections_total{site="acme"} 1');
    expect(lines).toContain('docshelf_search_duration_seconds_bucket{le="0.005"} 1');
    expect(lines).toContain('docshelf_search_duration_seconds_count 2');
    expect(lines).toContain('docshelf_search_sections_waiting{site="acme"} 12');
    expect(lines).toContain('docshelf_search_index_built_timestamp_seconds{site="acme"} 1700000000');
    const off = await metrics.expose({ ...READINGS, states: [{ site: 'acme', state: 'ready' }] });
    expect(off).not.toContain('docshelf_search_sections_waiting{');
  });

  it('contains a version metric for the active version only, and none if no version is active', async () => {
    const metrics = new Metrics();
    const infosOf = async (version: string | null) => {
      const active = version === null ? [] : [{ version, digest: DIGESTS.one, activatedAt: '2026-01-01T00:00:00Z' }];
      const text = await metrics.expose({ ...READINGS, states: [{ site: null, state: 'ready', active }] });
      return text.split('\n').filter((line) => line.startsWith('docshelf_active_version_info{'));
    };
    for (const version of ['v1', 'v2'])
      expect(await infosOf(version)).toEqual([
        `docshelf_active_version_info{version="${version}",digest="${DIGESTS.one}"} 1`,
      ]);
    expect(await infosOf(null)).toEqual([]);
  });

  it('counts failed downloads separately from rejected bundles', async () => {
    const metrics = new Metrics();
    const site = metrics.forSite(null);
    const failed = (step: string, error: DocshelfError) => site.onDeployEvent({ kind: 'failed', step, error });
    failed('deploy', new DocshelfError('link_expired', 'Cannot'));
    failed('inbox', new DocshelfError('type_symlink', 'Cannot'));
    failed('deploy', new DocshelfError('internal', 'unforeseen'));
    site.onDeployEvent({ kind: 'fetched', link: 'https://x/', digest: DIGESTS.one, bytes: 42, seconds: 1 });
    const lines = await linesOf(metrics);
    expect(lines).toContain('docshelf_fetches_total{result="failed"} 1');
    expect(lines).toContain('docshelf_fetches_total{result="ok"} 1');
    expect(lines).toContain('docshelf_fetched_bytes_total 42');
    expect(lines).toContain('docshelf_bundles_taken_in_total{source="inbox",result="refused"} 1');
    expect(lines).toContain('docshelf_errors_total{code="link_expired"} 1');
    expect(lines).toContain('docshelf_errors_total{code="internal"} 1');
  });

  it('reports a rejected config until a reload succeeds, and keeps the time of the last success', async () => {
    const metrics = new Metrics();
    const shown = async () =>
      (await linesOf(metrics)).find((line) => /^docshelf_config_last_reload_successful /.test(line));
    expect(await shown()).toBe('docshelf_config_last_reload_successful 1');
    metrics.onReload(false);
    metrics.onReload(false);
    expect(await shown()).toBe('docshelf_config_last_reload_successful 0');
    expect(await linesOf(metrics)).toContain('docshelf_last_reload_success_timestamp_seconds 0');
    metrics.onReload(true);
    expect(await shown()).toBe('docshelf_config_last_reload_successful 1');
    const line = (await linesOf(metrics)).find((each) => each.startsWith('docshelf_last_reload_success'));
    expect(Math.abs(Number(line?.split(' ')[1]) - Date.now() / 1000)).toBeLessThan(60);
    expect(await linesOf(metrics)).toContain('docshelf_reloads_total{result="failed"} 2');
  });

  it('contains the deployment state of docshelf, and the memory of the process', async () => {
    const text = await new Metrics().expose({ ...READINGS, states: [{ site: null, state: 'stale' }] });
    expect(text).toContain('docshelf_state{state="stale"} 1');
    expect(text).toContain('docshelf_state{state="ready"} 0');
    expect(text).toContain('docshelf_ready 1');
    expect(text).toMatch(/^process_resident_memory_bytes \d{7,}$/m);
  });

  it('reports queued and running export jobs, and omits them if the count is unknown', async () => {
    const metrics = new Metrics();
    const gauges = (text: string) => text.split('\n').filter((line) => line.startsWith('docshelf_export_jobs{'));
    expect(gauges(await metrics.expose({ ...READINGS, jobs: { queued: 3, running: 1 } }))).toEqual([
      'docshelf_export_jobs{status="queued"} 3',
      'docshelf_export_jobs{status="running"} 1',
    ]);
    expect(gauges(await metrics.expose(READINGS))).toEqual([]);
  });

  it('counts finished export jobs by site and result, and starts each counter at 0', async () => {
    const metrics = new Metrics();
    for (const site of ['acme', 'beta', null]) metrics.addExports(site);
    metrics.onJobEnded('acme', 'completed');
    metrics.onJobEnded('acme', 'completed');
    metrics.onJobEnded(null, 'canceled');
    const lines = await linesOf(metrics);
    for (const series of [
      '{site="acme",result="completed"} 2',
      '{site="acme",result="failed"} 0',
      '{site="beta",result="failed"} 0',
      '{result="canceled"} 1',
      '{result="failed"} 0',
    ]) {
      expect(lines).toContain(`docshelf_export_jobs_ended_total${series}`);
    }
  });

  it('labels counters and gauges with the domain of the site, but not histograms', async () => {
    const metrics = new Metrics();
    const [acme, beta] = [metrics.forSite('acme'), metrics.forSite('beta')];
    acme.onDeployEvent({ kind: 'activated', version: 'v1', digest: DIGESTS.one, previous: null });
    beta.onDeployEvent({ kind: 'activated', version: 'v7', digest: DIGESTS.two, previous: null });
    beta.onDeployEvent({ kind: 'failed', step: 'deploy', error: new DocshelfError('link_expired', 'Cannot') });
    metrics.onRequest({ ...SERVED, site: 'acme' });
    const active = [{ version: 'v7', digest: DIGESTS.two, activatedAt: '2026-01-01T00:00:00Z' }];
    const states = [
      { site: 'acme', state: 'off' },
      { site: 'beta', state: 'stale', active },
    ] as const;
    const lines = (await metrics.expose({ ...READINGS, states })).split('\n');
    expect(lines.filter((line) => line.startsWith('docshelf_active_version_info{'))).toEqual([
      `docshelf_active_version_info{site="beta",version="v7",digest="${DIGESTS.two}"} 1`,
    ]);
    expect(lines).toContain('docshelf_activations_total{site="acme"} 1');
    expect(lines).toContain('docshelf_errors_total{site="beta",code="link_expired"} 1');
    expect(lines).toContain('docshelf_fetches_total{site="acme",result="failed"} 0');
    expect(lines).toContain('docshelf_state{site="beta",state="stale"} 1');
    expect(lines).toContain('docshelf_http_requests_total{site="acme",listener="site",class="4xx"} 1');
    expect(lines).toContain('docshelf_http_request_duration_seconds_count{listener="site"} 1');
  });

  it('removes all gauges of a site that left the config, and keeps its counters', async () => {
    const metrics = new Metrics();
    const states = ['acme', 'beta'].map(busySite);
    for (const { site } of states)
      metrics.forSite(site).onDeployEvent({ kind: 'activated', version: 'v1', digest: DIGESTS.one, previous: null });
    await metrics.expose({ ...READINGS, states });
    const lines = (await metrics.expose({ ...READINGS, states: states.slice(0, 1) })).split('\n');
    const gauges = lines.flatMap((line) => /^# TYPE (\w+) gauge$/.exec(line)?.[1] ?? []);
    const sitesOf = (name: string) =>
      lines.filter((line) => line.startsWith(`${name}{`)).flatMap((line) => /site="(\w+)"/.exec(line)?.[1] ?? []);
    expect(gauges.filter((name) => sitesOf(name).includes('beta'))).toEqual([]);
    expect(sitesOf('docshelf_active_version_info')).toEqual(['acme']);
    expect(lines).toContain('docshelf_last_activation_timestamp_seconds{site="acme"} 1767225600');
    expect(sitesOf('docshelf_activations_total')).toEqual(['acme', 'beta']);
  });

  it('reports the free space of the volume and the delay of the main thread', async () => {
    const metrics = new Metrics();
    const gaugeOf = (text: string, name: string) => Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
    const text = await metrics.expose({ ...READINGS, volume: { freeBytes: 1, sizeBytes: 2 } });
    expect([gaugeOf(text, 'docshelf_volume_free_bytes'), gaugeOf(text, 'docshelf_volume_size_bytes')]).toEqual([1, 2]);
    await delayMainThread();
    expect(gaugeOf(await metrics.expose(READINGS), 'docshelf_event_loop_delay_seconds')).toBeGreaterThan(0.25);
  });

  it('omits site labels if there are too many sites', async () => {
    const metrics = new Metrics();
    metrics.useConfig({ sites: [{ domain: 'acme' }, { domain: 'other' }], metrics: { sites: 1 } });
    metrics.forSite('acme').onCache(true);
    metrics.onRequest({ ...SERVED, site: 'acme' });
    const text = await metrics.expose(READINGS);
    expect(text).toContain('docshelf_cache_hits_total 1');
    expect(text).not.toContain('site=');
  });

  it('drops and adds site labels if a reload changes metrics.sites', async () => {
    const metrics = new Metrics();
    const sites = [{ domain: 'acme' }, { domain: 'beta' }];
    const both = sites.map(({ domain }) => metrics.forSite(domain));
    const count = (): void => {
      for (const site of both) site.onCache(true);
      metrics.onRequest({ ...SERVED, site: 'acme' });
    };
    count();
    metrics.useConfig({ sites, metrics: { sites: 1 } });
    count();
    const without = await metrics.expose(READINGS);
    expect(without).not.toContain('site=');
    expect(without).toContain('docshelf_cache_hits_total 2');
    metrics.useConfig({ sites, metrics: { sites: 2 } });
    const withLabels = await metrics.expose(READINGS);
    for (const { domain } of sites) expect(withLabels).toContain(`docshelf_cache_hits_total{site="${domain}"} 0`);
    expect(withLabels).not.toMatch(/^docshelf_cache_hits_total /m);
  });

  it('labels only the remaining site if the removal of a site reduces the sites to the number in metrics.sites', async () => {
    const metrics = new Metrics();
    const settings = { metrics: { sites: 1 } };
    metrics.useConfig({ sites: [{ domain: 'acme' }, { domain: 'beta' }], ...settings });
    for (const domain of ['acme', 'beta']) metrics.forSite(domain);
    metrics.useConfig({ sites: [{ domain: 'acme' }], ...settings });
    const text = await metrics.expose(READINGS);
    expect(text).toContain('site="acme"');
    expect(text).not.toContain('site="beta"');
  });

  it('sets every metric to a value above 0 after events of every kind', async () => {
    const metrics = new Metrics('1.2.3');
    const site = metrics.forSite('acme');
    metrics.onRequest({ ...SERVED, site: 'acme' });
    metrics.onReload(true);
    metrics.onJobEnded('acme', 'completed');
    metrics.onWrongToken();
    metrics.onError('bad_request');
    for (const isHit of [true, false]) site.onCache(isHit);
    site.onWrongSignIn();
    site.onPageReport('https://cdn.example');
    site.onDeployEvent({ kind: 'fetched', link: 'https://x/', digest: DIGESTS.one, bytes: 42, seconds: 1 });
    site.onBundleRefused('upload');
    site.onSearch({ result: 'none', isCorrected: true, seconds: 1 });
    site.onDeployEvent({ kind: 'activated', version: 'v1', digest: DIGESTS.one, previous: null });
    await delayMainThread();
    const text = await metrics.expose({
      ...READINGS,
      states: [busySite('acme')],
      dependencies: [{ dependency: 'database', isUp: true }],
      jobs: { queued: 1, running: 1 },
      volume: { freeBytes: 1, sizeBytes: 2 },
      certificates: [{ setting: 'server.tls', endsAtMs: 1 }],
    });
    const defined = [...text.matchAll(/^# TYPE (docshelf_\w+) /gm)].map(([, name]) => name);
    const moved = [...text.matchAll(/^(docshelf_\w+?)(?:_count)?(?:\{.*\})? (.+)$/gm)]
      .filter(([, , value]) => Number(value) > 0)
      .map(([, name]) => name);
    expect(defined.length).toBeGreaterThan(20);
    expect(defined.filter((name) => !moved.includes(name))).toEqual([]);
  });

  it('has no event method that src/ never calls', () => {
    const cwd = join(import.meta.dirname, '../../src');
    const source = globSync('**/*.ts', { cwd, exclude: ['http/metrics/**'] })
      .map((path) => readFileSync(join(cwd, path), 'utf8'))
      .join('\n');
    const events = [Metrics, SiteMetrics]
      .flatMap(({ prototype }) => Object.getOwnPropertyNames(prototype))
      .filter((name) => name.startsWith('on'));
    expect(events.filter((name) => !source.includes(`metrics.${name}(`))).toEqual([]);
  });

  it('shares no values between two Metrics instances', async () => {
    const [one, other] = [new Metrics(), new Metrics()];
    one.forSite(null).onCache(true);
    other.forSite(null);
    expect(await linesOf(other)).toContain('docshelf_cache_hits_total 0');
    expect(await linesOf(one)).toContain('docshelf_cache_hits_total 1');
  });
});
