import { createHash } from 'node:crypto';
import { readdir, readFile, rename, stat, truncate, writeFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { SearchResult } from '../../src/search/index.ts';
import { type Bench, type ConfigFile, type DaemonProcess, openBench, runDocshelf, waitFor } from '../helpers/daemon.ts';
import { freePort } from '../helpers/free-ports.ts';
import { sideBySide } from '../helpers/side-by-side.ts';
import { workerProcesses } from '../helpers/watch-threads.ts';
import { bundle, sha256Of } from './bundles.ts';
import { organization } from './export-service.ts';
import { startServing } from './start.ts';

const bench = openBench(afterEach);
const KEY = 'svc_dsc_public';
const JUNE = '2024-06-01';
const JULY = '2024-07-01';
/** Record of the vector cache with the built-in model: key, 384 numbers, and checksum after a header. */
const RECORD_BYTES = 32 + 384 + 4;
const HEADER_BYTES = 16;

const page = (title: string, text: string): string =>
  `<!doctype html><html lang="en"><title>${title}</title><main><h1>${title}</h1><p>${text}</p></main></html>`;

const LIGHTHOUSE = {
  'lantern.html': page('Lantern', 'The lantern of the lighthouse burns all night.'),
  'cars.html': page('Cars', 'Fixing the engine of a vehicle in the garage.'),
};

/** Creates pages with different words. */
function leaves(count: number, mark: string): Record<string, string> {
  const text = (n: number) => `Leaf ${n} of the ${mark} lantern: ${createHash('md5').update(`${n}`).digest('hex')}.`;
  return Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`${mark}-${n}.html`, page(`Leaf ${n} ${mark}`, text(n))]),
  );
}

interface Site {
  readonly daemon: DaemonProcess;
  readonly api: string;
}

/** Starts a daemon that preloads these archives, with a known address of the API listener. */
async function start(
  archives: Readonly<Record<string, Uint8Array>>,
  config: ConfigFile = {},
  { from = bench, env = {} }: { from?: Bench; env?: Readonly<Record<string, string>> } = {},
): Promise<Site> {
  const port = await freePort();
  const search = { keys: [{ id: 'site', sha256: sha256Of(KEY) }], model: 'builtin' };
  const merged = { deployment: { domain: 'acme' }, api: { port }, search, log: { access: false }, ...config };
  return { daemon: await startServing(from, archives, merged, {}, env), api: `http://127.0.0.1:${port}` };
}

const archive = (date: string) => `acme-export-${date}.tar.gz`;

async function ofSite({ site }: DaemonProcess, query: string): Promise<SearchResult[]> {
  const response = await fetch(`${site}/_docshelf/search?q=${encodeURIComponent(query)}`);
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as SearchResult[];
}

function post(api: string, body: unknown, { domain = 'acme', key = KEY } = {}) {
  const headers = { 'content-type': 'application/json', ...(key === '' ? {} : { authorization: `Bearer ${key}` }) };
  return fetch(`${api}/v1/search/${domain}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

const pathsOf = (results: readonly SearchResult[]) => results.map(({ path }) => path.replace(/#.*$/, ''));
const untilRead = (daemon: DaemonProcess, version: string) =>
  daemon.until(({ active, search }) => active?.version === version && search.semantic === 'ready', 40_000);

describe('search in an air-gapped deployment with a built-in model', () => {
  const ofAll = openBench(afterAll);
  let home: string;
  let daemon: DaemonProcess;
  let api: string;

  beforeAll(async () => {
    home = await ofAll.folder();
    const key = { id: 'site', type: 'assistant', sha256: sha256Of(KEY) };
    const organizations = [organization('acme', { acme: { hosts: ['docs.acme.dev'] } }, key)];
    const files = {
      ...LIGHTHOUSE,
      'internal/plan.html': page('Plan', 'The lantern is replaced in autumn.'),
      '404.html': '<!doctype html><title>Nothing</title>',
      _redirects: '/internal/* /404 404!\n',
      '_docshelf/search/header.json': '{}',
    };
    const deployment = { type: 'air-gapped', domain: 'acme' };
    const config = { deployment, organizations, search: { model: 'builtin' } };
    const env = { HOME: home, XDG_CACHE_HOME: join(home, 'cache') };
    ({ daemon, api } = await start({ [archive(JUNE)]: bundle('june', files) }, config, { from: ofAll, env }));
    const { search } = await untilRead(daemon, JUNE);
    expect(search).toMatchObject({ keyword: 'ready', embedded: search.sections });
  });

  test('finds pages by words and by meaning on the site and in the API, except pages that rules with `!` hide', async () => {
    // The site completes the last word of a query. The API does not.
    const onSite = pathsOf(await ofSite(daemon, 'lighthouse lant'));
    expect(onSite[0]).toMatch(/^\/lantern/);
    expect((await fetch(`${daemon.site}/internal/plan`)).status).toBe(404);
    const hidden = pathsOf(await ofSite(daemon, 'the lantern is replaced in autumn'));
    expect(hidden[0]).toMatch(/^\/lantern/);
    expect(hidden.filter((path) => path.startsWith('/internal'))).toEqual([]);
    const response = await post(api, { query: 'automobile repair', pageSize: 1 });
    const results = (await response.json()) as SearchResult[];
    expect([response.status, results.length]).toEqual([200, 1]);
    expect(results[0]?.path).toMatch(/^\/cars/);
    const byHost = await post(api, { query: 'lantern', filter: { version: JUNE } }, { domain: 'docs.acme.dev' });
    expect(pathsOf((await byHost.json()) as SearchResult[])[0]).toMatch(/^\/lantern/);
    // If the telemetry of the inference runtime were on, it would write a machine id and data here.
    expect(await readdir(home, { recursive: true })).toEqual([]);
  });

  test('returns the same objects from docshelf search, with and without a daemon, and rebuilds a damaged index file', async () => {
    const notices = expect.arrayContaining([
      expect.stringMatching(/search data.*\(bad_search_data\).*computes the vectors again/),
    ]);
    expect((await daemon.status()).notices).toEqual(notices);
    const expected = (await (await post(api, { query: 'automobile repair' })).json()) as SearchResult[];
    const command = ['search', 'automobile repair', '--config', daemon.configFile];
    const withDaemon = await runDocshelf([...command, '--json']);
    expect([withDaemon.code, withDaemon.json()]).toEqual([0, expected]);
    expect(await daemon.stop()).toBe(0);
    const without = await runDocshelf([...command, '--json']);
    expect([without.code, without.json()]).toEqual([0, expected]);
    expect((await runDocshelf(command)).stdout).toContain(expected[0]?.path);

    // The notice is stored with the index, so a restart that builds nothing reports it too.
    const restarted = await ofAll.start(null, { folder: daemon.folder });
    expect((await untilRead(restarted, JUNE)).notices).toEqual(notices);
    expect(await restarted.stop()).toBe(0);
    const [file = ''] = await filesLike(daemon.dataDir, /\/keyword\.sqlite$/);
    const { size } = await stat(file);
    await truncate(file, Math.floor(size / 2));
    const again = await ofAll.start(null, { folder: daemon.folder });
    expect((await untilRead(again, JUNE)).notices).toEqual(notices);
    expect(again.lines()).toContainEqual(expect.objectContaining({ event: 'rebuilding', code: 'index_damaged' }));
    expect(pathsOf(await ofSite(again, 'lantern'))[0]).toMatch(/^\/lantern/);
    expect((await stat(file)).size).toBe(size);
  });
});

test('search results link only to pages of the served version during swaps', async () => {
  const { daemon, api } = await start(
    { [archive(JUNE)]: bundle('june', leaves(20, 'june')), [archive(JULY)]: bundle('july', leaves(20, 'july')) },
    { search: { keys: [{ id: 'site', sha256: sha256Of(KEY) }], model: 'off' }, staticExport: { version: JUNE } },
  );
  await daemon.until(({ versions, search }) => versions.length === 2 && search.keyword === 'ready');
  const served = async () => /june|july/.exec(await (await fetch(`${daemon.site}/`)).text())?.[0];
  const wrong: string[] = [];
  const seen = new Set<string>();
  const send = async (): Promise<void> => {
    const before = await served();
    const response = await post(api, { query: 'leaf lantern', pageSize: 20 });
    const paths = response.status === 200 ? pathsOf((await response.json()) as SearchResult[]) : [];
    const after = await served();
    if (response.status !== 200 || paths.length === 0) wrong.push(`${response.status}, ${paths.length} results`);
    // A response that began before a swap contains pages of the former version.
    if (before === undefined || before !== after) return;
    seen.add(before);
    wrong.push(...paths.filter((path) => !path.startsWith(`/${before}-`)).map((path) => `${path} in ${before}`));
  };
  for (const version of [JULY, JUNE, JULY, JUNE]) {
    const pending = sideBySide(Array.from({ length: 40 }), 4, send);
    await daemon.rewriteConfig({ staticExport: { version } });
    await Promise.all([pending, daemon.untilServing(version)]);
    const mark = version === JUNE ? 'june' : 'july';
    const paths = pathsOf(await ofSite(daemon, 'leaf'));
    expect(paths.filter((path) => !path.startsWith(`/${mark}-`))).toEqual([]);
    for (const path of paths) expect((await fetch(`${daemon.site}${path}`)).status).toBe(200);
  }
  expect(wrong).toEqual([]);
  expect([...seen].sort()).toEqual(['july', 'june']);
});

test('a site with search.enabled: false has neither a search route nor an API listener, and reports the search status "off"', async () => {
  const { daemon, api } = await start({ [archive(JUNE)]: bundle('june') }, { search: { enabled: false } });
  const { search } = await daemon.untilServing(JUNE);
  expect(search).toEqual({ keyword: 'off', semantic: 'off', sections: 0, embedded: 0 });
  expect((await fetch(`${daemon.site}/_docshelf/search?q=june`)).status).toBe(404);
  await expect(post(api, { query: 'june' })).rejects.toThrow();
});

test('docshelf serves pages and starts the indexing again if the indexing process is killed, and after kill -9 of the daemon during an index build', async () => {
  const { daemon } = await start({ [archive(JUNE)]: bundle('june', LIGHTHOUSE) }, { search: { model: 'off' } });
  await daemon.until(({ search }) => search.keyword === 'ready');
  const dropped = join(daemon.dataDir, 'inbox', archive(JULY));
  await writeFile(`${dropped}.part`, bundle('july', leaves(1_500, 'july')));
  await rename(`${dropped}.part`, dropped);
  /** The process lowers its own priority, and makes itself the first choice of the kernel's out-of-memory killer. */
  const indexing = (former = 0): Promise<number> =>
    waitFor(
      async () => {
        const found = workerProcesses(daemon.pid, '/search').find((pid) => pid !== former) ?? 0;
        const score = await readFile(`/proc/${found}/oom_score_adj`, 'utf8').catch(() => '');
        return score.trim() === '1000' && getPriority(found) > 0 ? found : null;
      },
      () => `no index is being built: ${daemon.log()}`,
    );
  const killed = await indexing();
  process.kill(killed, 'SIGKILL');
  expect((await fetch(`${daemon.site}/lantern`)).status).toBe(200);
  await indexing(killed);
  await waitFor(
    async () => (await filesLike(daemon.dataDir, /\.search-[0-9a-f]+$/))[0] ?? null,
    () => `no index is being built: ${daemon.log()}`,
  );
  expect(daemon.log()).toContain('"code":"worker_ended"');
  await daemon.kill();
  const again = await bench.start(null, { folder: daemon.folder });
  await again.until(({ active, search }) => active?.version === JULY && search.keyword === 'ready');
  expect(pathsOf(await ofSite(again, 'leaf 7'))).toContainEqual(expect.stringMatching(/^\/july-7\b/));
  expect(await filesLike(again.dataDir, /\.search-[0-9a-f]+$/)).toEqual([]);
});

test('after kill -9 during the computation of vectors for the search, the next start of the daemon completes the computation', async () => {
  const site = leaves(60, 'june');
  const { daemon } = await start({ [archive(JUNE)]: bundle('june', site) });
  await daemon.until(({ search }) => search.embedded > 4 && search.semantic === 'building');
  await daemon.kill();
  const before = await vectorsOf(daemon);

  const again = await bench.start(null, { folder: daemon.folder });
  const { search } = await untilRead(again, JUNE);
  expect(search.embedded).toBe(search.sections);
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThan(search.sections);
  expect(await vectorsOf(again)).toBe(search.sections);

  const changed = join(again.folder, archive(JULY));
  await writeFile(changed, bundle('june', { ...site, 'june-7.html': page('Leaf 7', 'A leaf that has turned red.') }));
  const config = ['--config', again.configFile];
  expect((await runDocshelf(['bundle', 'import', changed, ...config])).code).toBe(0);
  await untilRead(again, JULY);
  expect(await vectorsOf(again)).toBe(search.sections + 1);
  expect(pathsOf(await ofSite(again, 'leaves become crimson'))[0]).toMatch(/^\/june-7\b/);
});

async function filesLike(folder: string, pattern: RegExp): Promise<string[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  return names.map((name) => join(folder, name)).filter((path) => pattern.test(path));
}

/** Number of complete vectors in the cache of the data folder. */
async function vectorsOf({ dataDir }: DaemonProcess): Promise<number> {
  const segments = await filesLike(join(dataDir, 'vectors'), /\.seg$/);
  const sizes = await Promise.all(segments.map(async (file) => (await stat(file)).size));
  return sizes.reduce((sum, size) => sum + Math.floor(Math.max(0, size - HEADER_BYTES) / RECORD_BYTES), 0);
}
