import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { rawTar } from '../helpers/archives.ts';
import { type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { httpServer } from '../helpers/local-server.ts';
import { bundle, bundleWithManifest, sha256Of } from './bundles.ts';
import { startOrigin } from './origin.ts';

const bench = openBench(afterEach);

const homePage = async (daemon: DaemonProcess): Promise<string> => (await fetch(`${daemon.site}/`)).text();
const unretried = { retries: 0 };

describe('bundleUrl without a version', () => {
  test('is fetched at the start, and its bundle is served under the version in the file name', async () => {
    const one = bundle('one');
    const { origin: base } = await startOrigin(bench, { '/acme-export-2024-06-01.tar.gz': one });
    const daemon = await bench.start({ staticExport: { bundleUrl: `${base}/acme-export-2024-06-01.tar.gz?sig=1` } });
    const status = await daemon.untilServing('2024-06-01');
    expect(status).toMatchObject({
      pinned: null,
      lastError: null,
      active: { digest: sha256Of(one), pages: 2 },
      versions: [{ version: '2024-06-01', digest: sha256Of(one), source: 'url', files: 2 }],
    });
    expect(await homePage(daemon)).toContain('one');
  });

  test('can name a tar without end blocks if staticExport.sha256 is the digest of the tar', async () => {
    const tar = rawTar([{ name: 'index.html', body: '<title>open</title>' }], Buffer.alloc(0));
    const { origin: base } = await startOrigin(bench, { '/docs-2024-06-01.tar': tar });
    const bundleUrl = `${base}/docs-2024-06-01.tar`;
    const daemon = await bench.start({ network: unretried, staticExport: { bundleUrl } });
    await daemon.untilError('truncated');
    await daemon.rewriteConfig({ staticExport: { sha256: sha256Of(tar) } });
    await daemon.untilServing('2024-06-01');
  });

  test('can be a link to a local file (file:)', async () => {
    const folder = await bench.folder();
    const file = join(folder, 'docs-v1.2.3.tar.gz');
    await writeFile(file, bundle('one'));
    const daemon = await bench.start({
      staticExport: { bundleUrl: pathToFileURL(file).href },
      network: { fileRoots: [folder] },
    });
    await daemon.untilServing('v1.2.3');
    expect(await homePage(daemon)).toContain('one');
  });
});

describe('a deployment with bundleUrl and a pinned version', () => {
  test('needs no request to the origin after a restart, because the bundle is on disk', async () => {
    const server = await startOrigin(bench, { '/docs.tar.gz': bundle('one') });
    const first = await bench.start({ staticExport: { bundleUrl: `${server.origin}/docs.tar.gz`, version: 'v1' } });
    await first.untilServing('v1');
    await first.stop();
    const requestCount = server.requests.length;

    const second = await bench.start(null, { folder: first.folder });
    expect(await second.untilServing('v1')).toMatchObject({ lastError: null, notices: [] });
    expect(await homePage(second)).toContain('one');
    expect(server.requests.length).toBe(requestCount);
  });

  test('keeps the served version if the manifest of a new bundle contains another version than the pinned version', async () => {
    const { origin: base } = await startOrigin(bench, {
      '/one.tar.gz': bundleWithManifest('one', { version: 'v1' }),
      '/two.tar.gz': bundleWithManifest('two', { version: 'v9' }),
    });
    const daemon = await bench.start({ staticExport: { bundleUrl: `${base}/one.tar.gz`, version: 'v1' } });
    await daemon.untilServing('v1');
    await daemon.rewriteConfig({ staticExport: { bundleUrl: `${base}/two.tar.gz`, version: 'v2' } });
    expect(await daemon.untilError('version_mismatch')).toMatchObject({ next: expect.any(String) });
    const status = await daemon.status();
    expect(status).toMatchObject({ state: 'stale', active: { version: 'v1' }, pinned: 'v2' });
    expect(status.notices).toContainEqual(expect.stringMatching(/pins version v2, which.*no version after a restart/));
    expect(await homePage(daemon)).toContain('one');
  });
});

test('a slow fetch is aborted if a reload changes bundleUrl', async () => {
  const july = bundle('july');
  const server = await httpServer((request, response) => {
    if (request.url?.includes('2024-06-01')) response.writeHead(200, { 'content-length': 100 }).flushHeaders();
    else response.end(july);
  });
  bench.onEnd(() => server.close());
  const daemon = await bench.start({ staticExport: { bundleUrl: `${server.origin}/docs-2024-06-01.tar.gz` } });
  await daemon.until(({ activity }) => activity?.startsWith('fetching') === true);
  expect(await homePage(daemon)).not.toContain('fetching');
  await daemon.rewriteConfig({ staticExport: { bundleUrl: `${server.origin}/docs-2024-07-01.tar.gz` } });
  expect(await daemon.untilServing('2024-07-01')).toMatchObject({ lastError: null });
});

describe('a deployment in the state waiting or off', () => {
  test('responds with a 503 page for readers, and with the reason on the admin listener, if no version is stored', async () => {
    const daemon = await bench.start({});
    const { next } = await daemon.untilError('no_version');
    expect(next).toContain('bundle import');
    const page = await fetch(`${daemon.site}/guides/start`);
    expect(page.status).toBe(503);
    expect(page.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    expect(await page.text()).toContain('This documentation is not ready yet');
    expect((await fetch(`${daemon.admin}/livez`)).status).toBe(200);
    expect((await fetch(`${daemon.admin}/readyz`)).status).toBe(503);
    expect(await daemon.status()).toMatchObject({ state: 'waiting', active: null, versions: [] });
    expect((await fetch(`${daemon.site}/_docshelf/features.json`)).status).toBe(200);
  });

  test('responds with a 404 page, but is ready, if staticExport.enabled is false', async () => {
    const daemon = await bench.start({ staticExport: { enabled: false } });
    await daemon.until(({ state }) => state === 'off');
    const page = await fetch(`${daemon.site}/`);
    expect(page.status).toBe(404);
    expect(await page.text()).toContain('turned off');
    expect((await fetch(`${daemon.admin}/readyz`)).status).toBe(200);
    expect((await fetch(`${daemon.site}/_docshelf/features.json`)).status).toBe(200);
  });

  test('starts in the state waiting if the releases are missing in the data folder', async () => {
    const server = await startOrigin(bench, { '/docs-2024-06-01.tar.gz': bundle('one') });
    const config = { staticExport: { bundleUrl: `${server.origin}/docs-2024-06-01.tar.gz` }, network: unretried };
    const first = await bench.start(config);
    await first.untilServing('2024-06-01');
    await first.stop();
    await server.close();
    await rm(join(first.dataDir, 'releases'), { recursive: true });
    const second = await bench.start(null, { folder: first.folder });
    await second.until(({ state, lastError }) => state === 'waiting' && lastError !== null);
    expect((await fetch(`${second.site}/`)).status).toBe(503);
  });
});
