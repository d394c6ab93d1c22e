import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { hashSync } from 'bcryptjs';
import { afterEach, describe, expect, test } from 'vitest';
import { type ConfigFile, type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { bundle } from './bundles.ts';
import { siteEntry, startWithVersions } from './start.ts';

const bench = openBench(afterEach);
const WORKER = "importScripts('/part.js')";
const OLD = {
  'sw.js': WORKER,
  'part.js': 'part()',
  'offline.js': 'old',
  'deep/worker.mjs': 'old',
  worker: 'old',
};

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/** Node's client sends targets unchanged, and any header. */
async function send(daemon: DaemonProcess, path: string, headers = {}, method = 'GET'): Promise<Answer> {
  const sent = request(`${daemon.site}/`, { path, headers, method }).end();
  const [answer] = await once(sent, 'response');
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
}

const script = (daemon: DaemonProcess, path: string, headers = {}): Promise<Answer> =>
  send(daemon, path, { 'Service-Worker': 'script', ...headers });

const isRetired = ({ status, headers, body }: Answer): boolean =>
  status === 200 && headers['content-type'] === 'text/javascript; charset=utf-8' && body.includes('unregister()');

/** Version 2.0 is active. Version 1.0, which was active before, had a service worker. */
const start = async (config: ConfigFile = {}, newer: Readonly<Record<string, string>> = {}): Promise<DaemonProcess> =>
  (await startWithVersions(bench, { '1.0': bundle('old', OLD), '2.0': bundle('new', newer) }, config)).daemon;

describe('the script of a service worker', () => {
  test('is replaced by an unregistering script in service worker requests if the active version does not contain the script', async () => {
    const daemon = await start();
    for (const path of [
      '/sw.js',
      '/sw.js?v=1',
      '/offline.js',
      '/deep/worker.mjs',
      '/worker',
      '/never.js',
      '/%2e/sw.js',
    ])
      expect([path, isRetired(await script(daemon, path))]).toEqual([path, true]);
    const { headers } = await script(daemon, '/sw.js');
    expect(headers).toMatchObject({ 'service-worker-allowed': '/', 'cache-control': 'no-store' });
    expect(headers.vary).toContain('Service-Worker');
    const head = await send(daemon, '/sw.js', { 'Service-Worker': 'script' }, 'HEAD');
    expect([head.status, head.headers['content-length'], head.body]).toEqual([200, headers['content-length'], '']);
    // Old assets, and files that a worker imports.
    expect((await send(daemon, '/offline.js')).body).toBe('old');
    expect((await send(daemon, '/part.js')).body).toBe('part()');
    for (const path of ['/sw.js', '/never.js', '/worker']) expect((await send(daemon, path)).status).toBe(404);
    expect((await send(daemon, '/sw.js', { 'Service-Worker': 'other' })).status).toBe(404);
    expect((await send(daemon, '/sw.js', { 'Service-Worker': 'script' }, 'POST')).status).toBe(405);
    const rolledBack = await bench.run(['bundle', 'rollback'], { cwd: daemon.folder });
    expect(rolledBack).toMatchObject({ code: 0 });
    const own = await script(daemon, '/sw.js');
    expect([own.status, own.body]).toEqual([200, WORKER]);
    expect((await script(daemon, '/sw.js', { 'If-None-Match': own.headers.etag ?? '' })).status).toBe(304);
  });

  test('is replaced by an unregistering script after its site is disabled or removed', async () => {
    const sites = [siteEntry('a'), siteEntry('b')];
    const { daemon, importBundle } = await startWithVersions(bench, {}, { sites, staticExport: null });
    await importBundle('1.0', bundle('old', OLD), '--site', 'a');
    expect((await script(daemon, '/a/sw.js')).body).toContain('importScripts');
    // The site waits for its first version.
    expect((await script(daemon, '/b/sw.js')).status).toBe(503);
    expect(isRetired(await script(daemon, '/sw.js'))).toBe(true);
    await daemon.rewriteConfig({ sites: [siteEntry('a', { staticExport: { enabled: false } })] });
    await daemon.until(
      ({ lastReload, sites }) => lastReload?.ok === true && sites?.every(({ active }) => active === null) === true,
    );
    for (const path of ['/a/sw.js', '/b/sw.js']) expect(isRetired(await script(daemon, path))).toBe(true);
  });

  test('requires the sign-in of its site, whether the active version contains it or not', async () => {
    const folder = await bench.folder();
    const usersFile = join(folder, 'users');
    await writeFile(usersFile, `ada:${hashSync('right', 4)}\n`);
    const daemon = await start({ server: { auth: { kind: 'basic', usersFile } } }, { 'new.js': 'new' });
    const scripts = [await script(daemon, '/sw.js'), await script(daemon, '/new.js')];
    expect(scripts.map(({ status }) => status)).toEqual([401, 401]);
    const authorization = `Basic ${Buffer.from('ada:right').toString('base64')}`;
    expect(isRetired(await script(daemon, '/sw.js', { authorization }))).toBe(true);
    expect((await script(daemon, '/new.js', { authorization })).body).toBe('new');
  });
});

test('every response of a site with features.enforce has a policy that also restricts frames of the same origin', async () => {
  const files = { 'a.js': 'a', 'a.svg': '<svg/>', 'a.pdf': '%PDF', 'a.xml': '<x/>', 'a.png': 'x', 'a.txt': 'x' };
  const daemon = await start(
    {
      features: { enforce: 'on' },
      search: { enabled: true, widget: true, mcp: true },
      staticExport: { serveVersions: 'kept' },
    },
    { ...files, 'b.xhtml': '<html xmlns="http://www.w3.org/1999/xhtml"/>', '404.html': 'own', _redirects: '/r /a' },
  );
  const { body } = await send(daemon, '/');
  const assets = [...body.matchAll(/src="([^"]*_docshelf\/assets\/[^"]*)"/g)].map(([, path]) => path ?? '');
  expect(assets).not.toEqual([]);
  const enforced = ['/', '/guides/start', '/b', '/gone', '/guides/start.md', '/llms.txt', '/offline.js'];
  const kept = ['/_docshelf/v/1.0/', '/_docshelf/v/1.0/sw.js', '/_docshelf/v/1.0/gone/'];
  const files200 = Object.keys(files).map((path) => `/${path}`);
  for (const path of [...enforced, ...files200, ...kept.slice(0, 2)]) {
    for (const headers of [
      {},
      {},
      { range: 'bytes=0-0' },
      { 'accept-encoding': 'gzip' },
      { accept: 'text/markdown' },
    ]) {
      const answer = await send(daemon, path, headers);
      expect([path, answer.headers['content-security-policy']]).toEqual([
        path,
        expect.stringMatching(/default-src 'self' .*; webrtc 'block'; report-uri /),
      ]);
      expect(answer.headers['x-dns-prefetch-control']).toBe('off');
    }
  }
  const own = ['features.json', 'versions.json', 'search?q=x', 'opensearch.xml', 'nothing', 'csp-report', 'mcp'];
  const faults = ['/gone.js', '/%00', '/%', `/?${'a'.repeat(9000)}`, `/?${'a'.repeat(40_000)}`, '/a.js/../..//%zz'];
  for (const path of [...assets, ...own.map((each) => `/_docshelf/${each}`), ...faults, kept[2] ?? '']) {
    for (const [headers, method] of [
      [{}, 'GET'],
      [{ accept: 'text/html' }, 'GET'],
      [{ 'content-type': 'text/plain' }, 'POST'],
      [{ expect: 'x', 'if-match': '"x"' }, 'GET'],
    ] as const) {
      const answer = await send(daemon, path, headers, method);
      if (answer.body === '') continue;
      expect([path, method, answer.status, answer.headers['content-security-policy']]).toEqual([
        path,
        method,
        answer.status,
        expect.stringMatching(/default-src '(?:none|self)'/),
      ]);
    }
  }
});
