import { truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { TABLE_FILE } from '../../src/files/file-table.ts';
import type { SearchResult } from '../../src/search/index.ts';
import { importBundle, newStore } from '../deploy/workbench.ts';
import { type ConfigFile, type DaemonProcess, openBench, waitFor } from '../helpers/daemon.ts';
import { freePort } from '../helpers/free-ports.ts';
import { peakMiBOf } from '../helpers/process-facts.ts';
import { bundle, folderOf, sha256Of } from './bundles.ts';
import { startWithVersions } from './start.ts';

const bench = openBench(afterEach);
const KEY = 'svc_dsc_public';
const KEPT = 30;
/** Size of a sparse file: twice the memory of a daemon without search. */
const TABLE_BYTES = 512 * 1024 ** 2;

const JUNE = bundle('june', {
  'only-june.html': '<!doctype html><title>Only June</title><a href="/guides/start.html">Start</a>',
  'guides/deep/old.html': '<!doctype html><title>Moved away</title><p>june</p>',
  '404.html': '<!doctype html><title>Lost in June</title>',
  'a.css': 'b { background: url(/a.png) }',
  'keys/index.html':
    '<!doctype html><title>Keys</title><h1>Rotate keys</h1><p>Rotate the keys of June every month.</p>',
  _redirects: '/gone /guides/start 301',
});
const JULY = bundle('july', {
  'new/place.html': '<!doctype html><title>Moved away</title><p>july</p>',
  '404.html': '<!doctype html><title>Lost in July</title>',
  'keys/index.html': '<!doctype html><title>Keys</title><h1>Rotate keys</h1><p>Rotate the keys of July every day.</p>',
});

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Headers;
  readonly location: string | null;
}

async function send(daemon: DaemonProcess, path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(daemon.site + path, { redirect: 'manual', ...init });
  const { status, headers } = response;
  return { status, headers, location: headers.get('location'), body: await response.text() };
}

/** Starts a daemon that has served June and serves July. */
const startWith = (staticExport: ConfigFile, config: ConfigFile = {}, from = bench) =>
  startWithVersions(
    from,
    { 'v1.0+june': JUNE, 'v2.0': JULY },
    { staticExport: { keep: 5, ...staticExport }, ...config },
  );

const message = (): string => 'the list or the answer stays as it was';
const JUNE_AT = '/_docshelf/v/v1.0+june';

describe('serveVersions: kept', () => {
  const ofAll = openBench(afterAll);
  let shelf: Awaited<ReturnType<typeof startWith>>;
  let daemon: DaemonProcess;
  beforeAll(async () => {
    shelf = await startWith({ serveVersions: 'kept' }, {}, ofAll);
    daemon = shelf.daemon;
  });

  test('serves a formerly active version at its own address, with a link to the active version', async () => {
    const home = await send(daemon, `${JUNE_AT}/`);
    expect([home.status, home.headers.get('x-robots-tag')]).toEqual([200, 'noindex']);
    expect(home.body).toContain('june');
    expect(home.body).toContain(`href="${JUNE_AT}/guides/start"`);
    expect(home.headers.get('link')).toBe('</>; rel="canonical"');
    expect((await send(daemon, `${JUNE_AT}/a.css`)).body).toContain(`url(${JUNE_AT}/a.png)`);
    const again = await send(daemon, `${JUNE_AT}/`, { headers: { 'If-None-Match': home.headers.get('etag') ?? '' } });
    expect([again.status, again.headers.get('x-robots-tag')]).toEqual([304, 'noindex']);

    const canonicals: Record<string, string> = {
      'guides/start': '/guides/start',
      'guides/start.html': '/guides/start.html',
      // A moved page is found by its title. A deleted page links to the nearest parent.
      'guides/deep/old': '/new/place',
      'only-june': '/',
      'keys/': '/keys/',
    };
    for (const [path, canonical] of Object.entries(canonicals)) {
      const { status, headers } = await send(daemon, `${JUNE_AT}/${path}`);
      expect([path, status, headers.get('link')]).toEqual([path, 200, `<${canonical}>; rel="canonical"`]);
    }

    expect(await send(daemon, '/_docshelf/v/v1.0%2Bjune/keys?q=1')).toMatchObject({
      status: 308,
      location: `${JUNE_AT}/keys?q=1`,
    });
    expect(await send(daemon, JUNE_AT)).toMatchObject({ status: 308, location: `${JUNE_AT}/` });
    expect(await send(daemon, `${JUNE_AT}/gone`)).toMatchObject({ status: 301, location: `${JUNE_AT}/guides/start` });
    const lost = await send(daemon, `${JUNE_AT}/nowhere`);
    expect([lost.status, lost.headers.get('x-robots-tag')]).toEqual([404, 'noindex']);
    expect(lost.body).toContain('Lost in June');
    expect((await send(daemon, `${JUNE_AT}/`, { method: 'POST' })).status).toBe(405);
    expect(await send(daemon, `${JUNE_AT}/`, { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
    for (const path of ['/../only-june', '/%2e%2e/only-june', '//only-june', '/_docshelf/versions.json']) {
      expect((await send(daemon, JUNE_AT + path)).status, path).not.toBe(200);
    }
  });

  test('responds with the 404 page of the site for a version that is unknown or was never active', async () => {
    const unknown = await send(daemon, '/_docshelf/v/v9/');
    expect(unknown).toMatchObject({ status: 404, body: expect.stringContaining('Lost in July') });
    await shelf.importBundle('v3', bundle('staged'), '--no-activate');
    const staged = await send(daemon, '/_docshelf/v/v3/');
    const { date: _, 'x-request-id': __, ...headers } = Object.fromEntries(staged.headers);
    expect(staged).toMatchObject({ status: 404, body: unknown.body });
    expect(headers).toEqual({
      ...Object.fromEntries(unknown.headers),
      date: undefined,
      'x-request-id': undefined,
    });
    for (const path of ['', '.', '..', 'a%2fb', '%00', 'v1.0 june', 'V2.0']) {
      expect((await send(daemon, `/_docshelf/v/${path}/`)).status, path).toBe(404);
    }
  });
});

const listed = async (daemon: DaemonProcess, base = ''): Promise<readonly string[][]> => {
  const rows = JSON.parse((await send(daemon, `${base}/_docshelf/versions.json`)).body) as {
    version: string;
    title: string;
    aliases: string[];
  }[];
  return rows.map(({ version, title, aliases }) => [version, title, ...aliases]);
};

describe('versions.json', () => {
  test('lists the versions that readers can open, newest first, and changes after an import, activation or removal', async () => {
    const { daemon, runBundle, importBundle } = await startWith({ serveVersions: 'kept' });
    const rows = [
      ['v2.0', 'v2.0'],
      ['v1.0+june', 'v1.0+june'],
    ];
    expect(await listed(daemon)).toEqual(rows);
    const answer = await send(daemon, '/_docshelf/versions.json');
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    expect(answer.headers.get('content-type')).toContain('application/json');
    await importBundle('v3', bundle('staged'), '--no-activate');
    // The same bytes under another name.
    await importBundle('first', JUNE, '--no-activate');
    await waitFor(async () => ((await listed(daemon))[1]?.includes('first') ? true : null), message);
    expect(await listed(daemon)).toEqual([rows[0], ['v1.0+june', 'v1.0+june', 'first']]);
    await runBundle('activate', 'v3');
    expect((await listed(daemon)).map(([version]) => version)).toEqual(['v3', 'v2.0', 'v1.0+june']);
    await runBundle('rollback');
    expect((await listed(daemon)).map(([version]) => version)).toEqual(['v3', 'v2.0', 'v1.0+june']);
    await runBundle('remove', 'v3');
    await waitFor(async () => ((await listed(daemon)).length === 2 ? true : null), message);
    expect((await send(daemon, '/_docshelf/v/v3/')).status).toBe(404);
  });

  test('lists only the active version unless the config sets serveVersions: kept', async () => {
    const { daemon } = await startWith({});
    expect(await listed(daemon)).toEqual([['v2.0', 'v2.0']]);
    expect((await send(daemon, `${JUNE_AT}/`)).status).toBe(404);
    expect((await send(daemon, '/_docshelf/v/v2.0/keys/')).location).toBe('/keys/');
    await daemon.rewriteConfig({ staticExport: { serveVersions: 'kept' } });
    await waitFor(async () => ((await send(daemon, `${JUNE_AT}/`)).status === 200 ? true : null), message);
    expect(await listed(daemon)).toHaveLength(2);
  });
});

describe('a kept version (serveVersions: kept)', () => {
  test('can be searched by readers and API clients that select this version, with results that link to its pages', async () => {
    const port = await freePort();
    const search = { model: 'off', keys: [{ id: 'all', sha256: sha256Of(KEY) }] };
    const { daemon, runBundle } = await startWith({ serveVersions: 'kept' }, { api: { port }, search });
    await daemon.until(({ search: { keyword } }) => keyword === 'ready');
    const place = ({ path, content }: SearchResult) => [path.replace(/#.*/, ''), /June|July/.exec(content)?.[0]];
    const find = async (filter: object) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` };
      const body = JSON.stringify({ query: 'rotate keys', filter, pageSize: 1 });
      const response = await fetch(`http://127.0.0.1:${port}/v1/search/docs`, { method: 'POST', headers, body });
      expect(response.status).toBe(200);
      const results = (await response.json()) as SearchResult[];
      return results.map(place);
    };
    expect(await find({})).toEqual([['/keys', 'July']]);
    expect(await find({ version: 'v2.0' })).toEqual([['/keys', 'July']]);
    expect(await find({ version: 'v1.0+june' })).toEqual([[`${JUNE_AT}/keys`, 'June']]);
    expect(await find({ version: 'v9' })).toEqual([]);
    const searchWith = async (...args: string[]) => {
      const command = ['search', 'rotate keys', '--limit', '1', '--json', ...args];
      return (await bench.run(command, { cwd: daemon.folder })).json<SearchResult[]>().map(place);
    };
    expect(await searchWith('--version', 'v1.0+june')).toEqual([[`${JUNE_AT}/keys`, 'June']]);
    expect(await searchWith('--version', 'v2.0')).toEqual([['/keys', 'July']]);
    expect(await searchWith('--version', 'v9')).toEqual([]);
    expect(await searchWith('--release', 'v1.0+june', '--version', 'v2.0')).toEqual([]);
    await runBundle('rollback');
    expect(await find({ version: 'v1.0+june' })).toEqual([['/keys', 'June']]);
    expect(await find({ version: 'v2.0' })).toEqual([['/_docshelf/v/v2.0/keys', 'July']]);
  });

  test('is still served after a restart, and is deleted without an error even while readers use this version', async () => {
    const { daemon, importBundle } = await startWith({ serveVersions: 'kept', keep: 1 });
    expect((await send(daemon, `${JUNE_AT}/`)).status).toBe(200);
    await daemon.stop();
    const next = await bench.start(null, { folder: daemon.folder });
    await next.untilServing('v2.0');
    expect((await send(next, `${JUNE_AT}/`)).status).toBe(200);
    await importBundle('v3', bundle('august'));
    await next.until(({ versions }) => versions.length === 2);
    const gone = await send(next, `${JUNE_AT}/keys/`);
    expect([gone.status, gone.headers.get('x-robots-tag')]).toEqual([404, null]);
    expect((await send(next, '/_docshelf/v/v2.0/')).status).toBe(200);
    expect(next.log()).not.toContain('"level":50');
  });

  test('is served under a base path', async () => {
    const { daemon } = await startWith(
      { serveVersions: 'kept' },
      { server: { host: '127.0.0.1', port: 0, basePath: '/docs', publicUrl: 'https://docs.example' } },
    );
    const start = await send(daemon, `/docs${JUNE_AT}/guides/start`);
    expect([start.status, start.headers.get('link')]).toEqual([
      200,
      '<https://docs.example/docs/guides/start>; rel="canonical"',
    ]);
    expect((await send(daemon, `/docs${JUNE_AT}/`)).body).toContain(`href="/docs${JUNE_AT}/guides/start"`);
    expect((await send(daemon, '/docs/_docshelf/v/v2.0/keys/')).location).toBe('/docs/keys/');
    expect((await send(daemon, `${JUNE_AT}/`)).status).toBe(404);
    expect(await listed(daemon, '/docs')).toHaveLength(2);
  });
});

describe('older releases in the data folder', () => {
  test('are not read into memory at the start, but still serve assets that the active release does not contain', async () => {
    const store = await newStore();
    const digests: string[] = [];
    for (let month = 0; month <= KEPT; month += 1) {
      const version = `v1.${month}`;
      const folder = await folderOf(await bench.folder(), {
        'docs.tar.gz': bundle(version, { [`${version}.css`]: version }),
      });
      const { digest } = await importBundle(
        store,
        { file: join(folder, 'docs.tar.gz'), fileName: 'docs.tar.gz' },
        { version },
      );
      await store.markServed(digest, new Date(Date.UTC(2024, month)).toISOString());
      digests.push(digest);
    }
    // Entries are still found. Reading a whole table would need all its bytes in memory.
    for (const digest of digests.slice(0, KEPT)) await truncate(join(store.folderOf(digest), TABLE_FILE), TABLE_BYTES);

    const daemon = await bench.start({
      storage: { dir: store.paths.dir },
      staticExport: { keep: KEPT, version: `v1.${KEPT}` },
    });
    await daemon.untilServing(`v1.${KEPT}`);
    expect((await send(daemon, '/')).body).toContain(`v1.${KEPT}`);
    for (const version of ['v1.0', `v1.${KEPT - 1}`]) {
      expect(await send(daemon, `/${version}.css`)).toMatchObject({ status: 200, body: version });
    }
    expect((await send(daemon, '/none.css')).status).toBe(404);
    expect((await store.list()).map(({ digest }) => digest).sort()).toEqual(digests.sort());
    expect(await peakMiBOf(daemon.pid)).toBeLessThan(TABLE_BYTES / 1024 ** 2);
  });
});
