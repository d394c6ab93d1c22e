import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { SiteStatusReport } from '../../src/domain/status.ts';
import { type ConfigFile, type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { SiteClient } from '../helpers/site-client.ts';
import { bundle, folderOf } from './bundles.ts';
import { siteEntry } from './start.ts';

const bench = openBench(afterEach);
const TOKEN = 'a-token-for-the-tests';
const BEARER = { authorization: `Bearer ${TOKEN}` };
const JUNE = '2024-06-01';
const JULY = '2024-07-01';

/** acme is at the root of every host, beta under a path there, and gamma on its own host. */
const SITES = [
  siteEntry('acme', { basePath: '/' }),
  siteEntry('beta'),
  siteEntry('gamma', { basePath: '/', hosts: ['gamma.test'] }),
];

const configOf = (sites: readonly ConfigFile[], more: ConfigFile = {}): ConfigFile => ({
  staticExport: null,
  admin: { port: 0, token: TOKEN },
  sites,
  ...more,
});

/** Preloads June's bundle `<mark>` for each domain. */
async function home(marks: Readonly<Record<string, string>>): Promise<string> {
  const folder = await bench.folder();
  for (const [domain, mark] of Object.entries(marks)) {
    await folderOf(join(folder, 'bundles', domain), { [`docs-${JUNE}.tar.gz`]: bundle(mark) });
  }
  return folder;
}

const MARKS = { acme: 'anchor', beta: 'beacon', gamma: 'galley' };

const siteOf = (sites: readonly SiteStatusReport[] | undefined, domain: string) =>
  sites?.find(({ deployment }) => deployment.domain === domain);

/** Waits until all these sites are ready. */
const untilReady = (daemon: DaemonProcess, domains: readonly string[]) =>
  daemon.until(({ sites }) => domains.every((domain) => siteOf(sites, domain)?.state === 'ready'));

const untilReadyz = (daemon: DaemonProcess, wanted: number) =>
  expect.poll(async () => (await fetch(`${daemon.admin}/readyz`)).status).toBe(wanted);

async function get(daemon: DaemonProcess, path: string, host?: string) {
  const client = new SiteClient(daemon.site);
  const { status, body, headers } = await client.get(path, host === undefined ? {} : { host });
  client.close();
  return { status, text: body.toString(), headers };
}

describe('the sites of one daemon', () => {
  test('are each served at their own address and reported by domain', async () => {
    const daemon = await bench.start(configOf(SITES), { folder: await home(MARKS) });
    const status = await untilReady(daemon, Object.keys(MARKS));
    expect((await get(daemon, '/')).text).toContain('anchor');
    expect((await get(daemon, '/guides/start')).text).toContain('anchor');
    expect((await get(daemon, '/beta/')).text).toContain('beacon');
    expect((await get(daemon, '/beta/guides/start')).text).toContain('beacon');
    expect(await get(daemon, '/beta?x=1')).toMatchObject({ status: 308, headers: { location: '/beta/?x=1' } });
    for (const host of ['gamma.test', 'GAMMA.test:8080', 'gamma.test.']) {
      expect((await get(daemon, '/', host)).text).toContain('galley');
    }

    expect(status).toMatchObject({ state: 'ready', active: null, pinned: null, versions: [], search: null });
    expect(status.deployment.domain).toBeNull();
    expect(
      status.sites?.map(({ deployment, active, basePath, hosts }) => [
        deployment.domain,
        active?.version,
        basePath,
        hosts,
      ]),
    ).toEqual([
      ['acme', JUNE, '/', []],
      ['beta', JUNE, '/beta/', []],
      ['gamma', JUNE, '/', ['gamma.test']],
    ]);
    const features = await (await fetch(`${daemon.admin}/v1/features`)).json();
    expect(features).toMatchObject({
      domain: null,
      features: [],
      sites: [{ domain: 'acme' }, { domain: 'beta' }, { domain: 'gamma' }],
    });
    expect(await (await fetch(`${daemon.site}/beta/_docshelf/features.json`)).json()).toMatchObject({ domain: 'beta' });

    await expect
      .poll(() => daemon.lines())
      .toContainEqual(expect.objectContaining({ path: '/beta/guides/start', site: 'beta' }));
    const activated = daemon.lines().filter(({ event }) => event === 'activated');
    expect(activated.map(({ site }) => site).toSorted()).toEqual(['acme', 'beta', 'gamma']);
    const metrics = await (await fetch(`${daemon.admin}/metrics`)).text();
    expect(metrics).toContain('docshelf_state{site="gamma",state="ready"} 1');
    expect(metrics).toMatch(/docshelf_http_requests_total\{site="beta",listener="site",class="2xx"\} \d/);
    expect(await daemon.stop()).toBe(0);
  });

  test('can be added, changed or removed by a reload without effect on other sites, and still have their versions if added again', async () => {
    const folder = await home({ ...MARKS, delta: 'dolphin' });
    const daemon = await bench.start(configOf(SITES), { folder });
    const { sites: before } = await untilReady(daemon, Object.keys(MARKS));
    const sinceOf = (sites: typeof before, domain: string) => siteOf(sites, domain)?.active?.activatedAt;

    const delta = siteEntry('delta');
    await daemon.rewriteConfig({ sites: [...SITES, delta] });
    await untilReady(daemon, [...Object.keys(MARKS), 'delta']);
    expect((await get(daemon, '/delta/')).text).toContain('dolphin');

    const pinned = siteEntry('delta', { basePath: '/docs/delta', staticExport: { enabled: true, version: 'v9' } });
    await daemon.rewriteConfig({ sites: [...SITES, pinned] });
    await daemon.until(({ sites }) => siteOf(sites, 'delta')?.lastError?.code === 'version_not_found');
    const { sites: changed } = await daemon.status();
    // With a missing pin, the served version stays, at its new path.
    expect(siteOf(changed, 'delta')).toMatchObject({
      state: 'stale',
      active: { version: JUNE },
      basePath: '/docs/delta/',
    });
    expect((await get(daemon, '/docs/delta/')).text).toContain('dolphin');
    expect((await get(daemon, '/delta/')).text).not.toContain('dolphin');
    expect(siteOf(changed, 'acme')).toMatchObject({ state: 'ready', lastError: null });

    await daemon.rewriteConfig({ sites: SITES });
    await daemon.until(({ sites }) => sites?.length === SITES.length);
    expect((await get(daemon, '/docs/delta/')).status).toBe(404);
    expect((await get(daemon, '/delta/')).status).toBe(404);
    await daemon.rewriteConfig({ sites: [...SITES, delta] });
    const { sites: after } = await untilReady(daemon, [...Object.keys(MARKS), 'delta']);
    expect((await get(daemon, '/delta/')).text).toContain('dolphin');
    for (const domain of Object.keys(MARKS)) expect(sinceOf(after, domain)).toBe(sinceOf(before, domain));
    expect(daemon.lines().filter(({ event, site }) => event === 'taken-in' && site === 'delta')).toHaveLength(1);
    await folderOf(join(daemon.dataDir, 'sites/delta/inbox'), { [`docs-${JULY}.tar.gz`]: bundle('dory') });
    await daemon.until(({ sites }) => siteOf(sites, 'delta')?.active?.version === JULY);
  });

  test('respond at their old or their new address at any time while a reload changes their address', async () => {
    const daemon = await bench.start(configOf(SITES), { folder: await home(MARKS) });
    await untilReady(daemon, Object.keys(MARKS));
    const others = Array.from({ length: 200 }, (_, at) => siteEntry(`other-${at}`));
    const moved = [SITES[0] ?? {}, siteEntry('beta', { basePath: '/moved' }), SITES[2] ?? {}, ...others];
    const client = new SiteClient(daemon.site);
    const isThere = async (path: string) => (await client.get(path, {})).body.includes('beacon');
    await daemon.rewriteConfig({ sites: moved });
    let isMoved = false;
    const lost: number[] = [];
    for (let at = 0; !isMoved; at += 1) {
      if (await isThere('/beta/')) continue;
      isMoved = await isThere('/moved/');
      if (!isMoved) lost.push(at);
    }
    client.close();
    expect(lost).toEqual([]);
  });

  test('are still served by a ready daemon if other sites fail, and each error is reported under the domain of the failed site', async () => {
    const folder = await home({ acme: 'anchor' });
    await folderOf(join(folder, 'bundles/beta'), { 'broken-2024-06-01.tar.gz': Buffer.from('no archive at all') });
    const gone = { enabled: true, bundleUrl: 'http://127.0.0.1:9/none.tar.gz?signature=canary' };
    const sites = [...SITES.slice(0, 2), { ...SITES[2], staticExport: gone }];
    const daemon = await bench.start(configOf(sites, { network: { retries: 0 } }), { folder });
    const status = await daemon.until(
      ({ sites: seen }) => siteOf(seen, 'beta')?.lastError != null && siteOf(seen, 'gamma')?.lastError != null,
    );
    await untilReady(daemon, ['acme']);
    expect(status.state).toBe('waiting');
    await untilReadyz(daemon, 200);
    expect((await get(daemon, '/')).text).toContain('anchor');
    expect((await get(daemon, '/beta/')).status).toBe(503);
    expect((await get(daemon, '/', 'gamma.test')).status).toBe(503);
    expect(siteOf(status.sites, 'beta')?.lastError?.code).toBe('unknown_format');
    expect(siteOf(status.sites, 'gamma')?.lastError?.code).toBe('source_unreachable');
    expect(siteOf(status.sites, 'acme')?.lastError).toBeNull();
    const metrics = await (await fetch(`${daemon.admin}/metrics`)).text();
    expect(metrics).toContain('docshelf_errors_total{site="beta",code="unknown_format"} 1');
    expect(metrics).not.toContain('docshelf_errors_total{site="acme"');
    const failures = daemon.lines().filter(({ event }) => event === 'failed');
    expect(new Set(failures.map(({ site }) => site))).toEqual(new Set(['beta', 'gamma']));
    expect(daemon.log()).not.toContain('canary');
  });

  test('report an error in the status if their folder cannot be opened, and are served after a fix and a reload', async () => {
    const folder = await home(MARKS);
    const broken = join(folder, 'data/sites/beta');
    await mkdir(join(folder, 'data/sites'), { recursive: true });
    await writeFile(broken, 'no folder');
    const daemon = await bench.start(configOf(SITES), { folder });
    await untilReady(daemon, ['acme', 'gamma']);
    await untilReadyz(daemon, 200);
    const status = await daemon.until(({ sites }) => siteOf(sites, 'beta')?.lastError != null);
    expect(status).toMatchObject({ state: 'waiting', notices: [] });
    expect(siteOf(status.sites, 'beta')).toMatchObject({ state: 'waiting', active: null, basePath: '/beta/' });
    expect((await get(daemon, '/')).text).toContain('anchor');
    expect((await get(daemon, '/beta/guides/start')).status).toBe(503);
    expect(JSON.parse((await get(daemon, '/beta/_docshelf/features.json')).text)).toMatchObject({ domain: 'beta' });
    const rollback = () => fetch(`${daemon.admin}/v1/sites/beta/rollback`, { method: 'POST', headers: BEARER });
    expect((await rollback()).status).toBe(503);
    const metrics = await (await fetch(`${daemon.admin}/metrics`)).text();
    expect(metrics).toContain('docshelf_state{site="beta",state="waiting"} 1');
    expect(metrics).toMatch(/docshelf_errors_total\{site="beta",code="cannot_write"\} \d/);
    expect(metrics).toMatch(/docshelf_http_requests_total\{site="beta",listener="site",class="5xx"\} 1\n/);

    await rm(broken);
    await fetch(`${daemon.admin}/v1/reload`, { method: 'POST', headers: BEARER });
    const { sites } = await untilReady(daemon, Object.keys(MARKS));
    expect(siteOf(sites, 'beta')?.lastError).toBeNull();
    expect((await get(daemon, '/beta/')).text).toContain('beacon');
    await folderOf(join(broken, 'inbox'), { [`docs-${JULY}.tar.gz`]: bundle('bollard') });
    await daemon.until(({ sites: later }) => siteOf(later, 'beta')?.active?.version === JULY);
  });

  test('make the daemon unready if no site is served and one site waits for a version', async () => {
    const folder = await home({ acme: 'anchor' });
    const daemon = await bench.start(configOf(SITES.slice(0, 2)), { folder });
    await untilReady(daemon, ['acme']);
    await untilReadyz(daemon, 200);
    await daemon.rewriteConfig({ sites: [{ ...SITES[0], staticExport: { enabled: false } }, siteEntry('beta')] });
    await daemon.until(({ sites }) => siteOf(sites, 'acme')?.state === 'off');
    await untilReadyz(daemon, 503);
  });
});
