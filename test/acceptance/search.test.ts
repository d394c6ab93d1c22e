import { createHash } from 'node:crypto';
import { readdir, readFile, rename, stat, truncate, writeFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { SearchResult } from '../../src/search/index.ts';
import { type ConfigFile, type DaemonProcess, openBench, runDocshelf, waitFor } from '../helpers/daemon.ts';
import { freePort } from '../helpers/free-ports.ts';
import { sideBySide } from '../helpers/side-by-side.ts';
import { workerProcesses } from '../helpers/watch-threads.ts';
import { bundle, folderOf, sha256Of } from './bundles.ts';

const bench = openBench(afterEach);
const KEY = 'svc_dsc_public';
const ADMIN_KEY = 'svc_secret';
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
  env: Readonly<Record<string, string>> = {},
): Promise<Site> {
  const folder = await bench.folder();
  await folderOf(join(folder, 'bundles'), archives);
  const port = await freePort();
  const search = { keys: [{ id: 'site', sha256: sha256Of(KEY) }], model: 'builtin' };
  const merged = { deployment: { domain: 'acme' }, api: { port }, search, log: { access: false }, ...config };
  return { daemon: await bench.start(merged, { folder, env }), api: `http://127.0.0.1:${port}` };
}

const archive = (date: string) => `acme-export-${date}.tar.gz`;

async function ofSite({ site }: DaemonProcess, query: string): Promise<SearchResult[]> {
  const response = await fetch(`${site}/_docshelf/search?q=${encodeURIComponent(query)}`);
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as SearchResult[];
}

function post(api: string, body: unknown, { domain = 'acme', key = KEY, type = 'application/json' } = {}) {
  const headers = { 'content-type': type, ...(key === '' ? {} : { authorization: `Bearer ${key}` }) };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(`${api}/v1/search/${domain}`, { method: 'POST', headers, body: text });
}

const pathsOf = (results: readonly SearchResult[]) => results.map(({ path }) => path.replace(/#.*$/, ''));
const untilRead = (daemon: DaemonProcess, version: string) =>
  daemon.until(({ active, search }) => active?.version === version && search.semantic === 'ready', 40_000);

test('the site and the API return results by words and by meaning, and the API rejects invalid requests', async () => {
  const keys = [
    { id: 'site', type: 'assistant', sha256: sha256Of(KEY) },
    { id: 'ci', type: 'admin', sha256: sha256Of(ADMIN_KEY) },
  ];
  const organizations = [
    { id: 'acme', plan: 'enterprise', domains: { acme: { hosts: ['docs.acme.dev'] } }, keys },
    { id: 'other', plan: 'free', domains: { beta: {} }, keys: [] },
  ];
  const { daemon, api } = await start(
    { [archive(JUNE)]: bundle('june', LIGHTHOUSE) },
    { organizations, search: { model: 'builtin' } },
  );
  const { search } = await untilRead(daemon, JUNE);
  expect(search).toMatchObject({ keyword: 'ready', embedded: search.sections });

  // The site completes the last word of a query. The API does not.
  expect(pathsOf(await ofSite(daemon, 'lighthouse lant'))[0]).toMatch(/^\/lantern/);
  const response = await post(api, { query: 'automobile repair', pageSize: 1 });
  const results = (await response.json()) as SearchResult[];
  expect([response.status, results.length]).toEqual([200, 1]);
  expect(results[0]?.path).toMatch(/^\/cars/);
  const byHost = await post(api, { query: 'lantern', filter: { version: JUNE } }, { domain: 'docs.acme.dev' });
  expect(pathsOf((await byHost.json()) as SearchResult[])[0]).toMatch(/^\/lantern/);
  const elsewhere = await post(api, { query: 'lantern', filter: { version: 'v9' } });
  expect([elsewhere.status, await elsewhere.json()]).toEqual([200, []]);

  const query = { query: 'lantern' };
  const refused: [status: number, answer: Response][] = [
    [401, await post(api, query, { key: '' })],
    [401, await post(api, query, { key: 'svc_dsc_unknown' })],
    [403, await post(api, query, { key: ADMIN_KEY })],
    [404, await post(api, query, { domain: 'nowhere' })],
    [404, await post(api, query, { domain: 'beta' })],
    [400, await post(api, '{"query":')],
    [400, await post(api, { query: ' ' })],
    [400, await post(api, { ...query, pageSize: 51 })],
    [400, await post(api, { ...query, more: 1 })],
    [413, await post(api, { query: 'a'.repeat(70_000) })],
    [415, await post(api, JSON.stringify(query), { type: 'text/plain' })],
  ];
  expect(refused.map(([, { status }]) => status)).toEqual(refused.map(([status]) => status));
  for (const [, answer] of refused) expect(answer.headers.get('content-type')).toContain('application/problem+json');
});

test('search results link only to pages of the served version during swaps', async () => {
  const { daemon, api } = await start(
    { [archive(JUNE)]: bundle('june', leaves(20, 'june')), [archive(JULY)]: bundle('july', leaves(20, 'july')) },
    { staticExport: { version: JUNE } },
  );
  await daemon.untilServing(JUNE);
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

test('search finds no page that rules with `!` hide from readers', async () => {
  const page = (word: string) =>
    `<!doctype html><title>${word}</title><main><h1>${word}</h1><p>zebracrossing ${word}</p></main>`;
  const files = {
    'internal/plan.html': page('plan'),
    'open.html': page('open'),
    '404.html': '<!doctype html><title>Nothing</title>',
    _redirects: '/internal/* /404 404!\n',
  };
  const { daemon } = await start({ [archive(JUNE)]: bundle('june', files) }, { search: { model: 'off' } });
  await daemon.until(({ active, search }) => active?.version === JUNE && search.keyword === 'ready');
  expect((await fetch(`${daemon.site}/internal/plan`)).status).toBe(404);
  expect(pathsOf(await ofSite(daemon, 'zebracrossing'))).toEqual(['/open']);
});

test('a site with search.enabled: false has no search route, no API listener, and the search status off', async () => {
  const { daemon, api } = await start({ [archive(JUNE)]: bundle('june') }, { search: { enabled: false } });
  const { search } = await daemon.untilServing(JUNE);
  expect(search).toEqual({ keyword: 'off', semantic: 'off', sections: 0, embedded: 0 });
  expect((await fetch(`${daemon.site}/_docshelf/search?q=june`)).status).toBe(404);
  await expect(post(api, { query: 'june' })).rejects.toThrow();
});

test('an air-gapped deployment searches by words and by meaning, and the inference runtime sends no telemetry', async () => {
  const deployment = { type: 'air-gapped', domain: 'acme' };
  const home = await bench.folder();
  const env = { HOME: home, XDG_CACHE_HOME: join(home, 'cache') };
  const { daemon } = await start({ [archive(JUNE)]: bundle('june', LIGHTHOUSE) }, { deployment }, env);
  await untilRead(daemon, JUNE);
  expect(pathsOf(await ofSite(daemon, 'automobile repair'))[0]).toMatch(/^\/cars/);
  // If its telemetry were on, it would write a machine id and data here.
  expect(await readdir(home, { recursive: true })).toEqual([]);
});

test('after kill -9 during an index build, the next start becomes ready and removes the partial index', async () => {
  const { daemon } = await start({ [archive(JUNE)]: bundle('june', leaves(1_500, 'june')) }, modelOff());
  await waitFor(
    async () => (await filesLike(daemon.dataDir, /\.search-[0-9a-f]+$/))[0] ?? null,
    () => `no index is being built: ${daemon.log()}`,
  );
  await daemon.kill();
  const again = await bench.start(null, { folder: daemon.folder });
  await again.until(({ active, search }) => active !== null && search.keyword === 'ready', 40_000);
  expect(pathsOf(await ofSite(again, 'leaf 7'))).toContainEqual(expect.stringMatching(/^\/june-7\b/));
  expect(await filesLike(again.dataDir, /\.search-[0-9a-f]+$/)).toEqual([]);
});

test('after kill -9 during embedding, the next start resumes the embedding, and a new version needs vectors only for its changed page', async () => {
  const site = leaves(100, 'june');
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

test('the next start rebuilds a damaged index file, and logs the rebuild', async () => {
  const { daemon } = await start({ [archive(JUNE)]: bundle('june', LIGHTHOUSE) }, modelOff());
  await daemon.until(({ search }) => search.keyword === 'ready');
  expect(await daemon.stop()).toBe(0);
  const [file = ''] = await filesLike(daemon.dataDir, /\/keyword\.sqlite$/);
  const whole = await readFile(file);
  await truncate(file, Math.floor(whole.length / 2));

  const again = await bench.start(null, { folder: daemon.folder });
  await again.until(({ search }) => search.keyword === 'ready');
  expect(again.lines()).toContainEqual(expect.objectContaining({ event: 'rebuilding', code: 'index_damaged' }));
  expect(pathsOf(await ofSite(again, 'lantern'))[0]).toMatch(/^\/lantern/);
  expect((await stat(file)).size).toBe(whole.length);
});

test('two daemons on one data folder share one index and its vectors, also after they rebuild a damaged index', async () => {
  const site = { ...leaves(20, 'june'), ...LIGHTHOUSE };
  const { daemon } = await start({ [archive(JUNE)]: bundle('june', site) });
  const other = await bench.start({
    ...{ deployment: { domain: 'acme' }, storage: { dir: daemon.dataDir }, search: { model: 'builtin' } },
    staticExport: { preload: join(daemon.folder, 'bundles') },
  });
  const { search } = await untilRead(daemon, JUNE);
  expect((await untilRead(other, JUNE)).search).toEqual(search);
  expect(await vectorsOf(daemon)).toBe(search.sections);
  const answers = async (daemons: readonly DaemonProcess[]): Promise<void> => {
    for (const each of daemons) {
      expect(pathsOf(await ofSite(each, 'leaf 7'))).toContainEqual(expect.stringMatching(/^\/june-7\b/));
      expect(pathsOf(await ofSite(each, 'automobile repair'))[0]).toMatch(/^\/cars/);
    }
  };
  await answers([daemon, other]);

  for (const each of [daemon, other]) expect(await each.stop()).toBe(0);
  const [file = ''] = await filesLike(daemon.dataDir, /\/keyword\.sqlite$/);
  await truncate(file, 5_000);
  const again = await Promise.all([daemon, other].map((each) => bench.start(null, { folder: each.folder })));
  for (const each of again) await untilRead(each, JUNE);
  await answers(again);
  const lines = again.flatMap((each) => each.lines());
  expect(lines.filter(({ event }) => event === 'failed')).toEqual([]);
  expect(await vectorsOf(daemon)).toBe(search.sections);
  expect(await filesLike(daemon.dataDir, /\.search/)).toEqual([]);
});

test('docshelf search returns the same objects as the API, with and without a daemon', async () => {
  const { daemon, api } = await start({ [archive(JUNE)]: bundle('june', LIGHTHOUSE) });
  await untilRead(daemon, JUNE);
  const expected = (await (await post(api, { query: 'automobile repair' })).json()) as SearchResult[];
  expect(expected[0]?.path).toMatch(/^\/cars/);
  const command = ['search', 'automobile repair', '--config', daemon.configFile];
  const withDaemon = await runDocshelf([...command, '--json']);
  expect([withDaemon.code, withDaemon.json()]).toEqual([0, expected]);
  expect(await daemon.stop()).toBe(0);
  const without = await runDocshelf([...command, '--json']);
  expect([without.code, without.json()]).toEqual([0, expected]);
  expect((await runDocshelf(command)).stdout).toContain(expected[0]?.path);

  const missing = await runDocshelf([...command, '--release', 'v9', '--json']);
  expect([missing.code === 0, missing.json<{ code: string }>().code]).toEqual([false, 'version_not_found']);
});

function modelOff(): ConfigFile {
  return { search: { model: 'off' } };
}

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

test('if the indexing process is killed, the daemon still serves the pages, reports the failure, and starts the indexing again', async () => {
  const { daemon } = await start({ [archive(JUNE)]: bundle('June', LIGHTHOUSE) }, { search: { model: 'off' } });
  await daemon.until(({ search }) => search.keyword === 'ready');
  const pages = leaves(1_500, 'oak');
  const dropped = join(daemon.dataDir, 'inbox', archive(JULY));
  await writeFile(`${dropped}.part`, bundle('July', pages));
  await rename(`${dropped}.part`, dropped);
  // The process lowers its own priority, and makes itself the first choice of the kernel's out-of-memory killer.
  const pid = await waitFor(
    async () => {
      // A thread that compresses files of the first version may also run.
      const [found = 0] = workerProcesses(daemon.pid, '/search');
      const score = await readFile(`/proc/${found}/oom_score_adj`, 'utf8').catch(() => '');
      return score.trim() === '1000' && getPriority(found) > 0 ? found : null;
    },
    () => daemon.log(),
  );
  process.kill(pid, 'SIGKILL');
  expect((await fetch(`${daemon.site}/lantern`)).status).toBe(200);
  await daemon.until(({ active, search }) => active?.version === JULY && search.keyword === 'ready');
  expect(pathsOf(await ofSite(daemon, 'leaf 77 oak'))).toContainEqual(expect.stringMatching(/^\/oak-77\b/));
  expect(daemon.log()).toContain('"code":"worker_ended"');
});

test('the status reports damaged search data of a bundle, also after a restart, and search still finds the pages of this bundle', async () => {
  const carried = { ...LIGHTHOUSE, '_docshelf/search/header.json': '{}' };
  const { daemon } = await start({ [archive(JUNE)]: bundle('June', carried) }, { search: { model: 'off' } });
  const expectedNotices = expect.arrayContaining([
    expect.stringMatching(/search data.*\(bad_search_data\).*computes the vectors again/),
  ]);
  expect((await daemon.until(({ search }) => search.keyword === 'ready')).notices).toEqual(expectedNotices);
  expect(pathsOf(await ofSite(daemon, 'lantern'))).toContainEqual(expect.stringMatching(/^\/lantern/));
  expect(await daemon.stop()).toBe(0);
  const again = await bench.start(null, { folder: daemon.folder });
  expect((await again.until(({ search }) => search.keyword === 'ready')).notices).toEqual(expectedNotices);
});
