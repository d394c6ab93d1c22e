import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { rawTar } from '../helpers/archives.ts';
import { type DaemonProcess, openBench, waitFor } from '../helpers/daemon.ts';
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

  test('provides a bundle that docshelf serves under the version and the domain in the manifest', async () => {
    const { origin: base } = await startOrigin(bench, {
      '/docs-2024-06-01.tar.gz': bundleWithManifest('one', { version: 'v2.0.0', domain: 'acme' }),
    });
    const daemon = await bench.start({ staticExport: { bundleUrl: `${base}/docs-2024-06-01.tar.gz` } });
    expect(await daemon.untilServing('v2.0.0')).toMatchObject({ deployment: { domain: 'acme' } });
  });

  test('provides a bundle that docshelf serves under the version in the Content-Disposition header, not in the URL path', async () => {
    const server = await httpServer((_request, response) => {
      response.setHeader('content-disposition', 'attachment; filename="acme-export-2024-06-01.tar.gz"');
      response.end(bundle('one'));
    });
    bench.onEnd(() => server.close());
    const daemon = await bench.start({ staticExport: { bundleUrl: `${server.origin}/docs-2020-01-01.tar.gz` } });
    await daemon.untilServing('2024-06-01');
  });

  test('can provide a tar without end blocks if staticExport.sha256 is the digest of the tar', async () => {
    const tar = rawTar([{ name: 'index.html', body: '<title>open</title>' }], Buffer.alloc(0));
    const { origin: base } = await startOrigin(bench, { '/docs-2024-06-01.tar': tar });
    const bundleUrl = `${base}/docs-2024-06-01.tar`;
    const daemon = await bench.start({ network: unretried, staticExport: { bundleUrl } });
    await daemon.untilError('truncated');
    await daemon.rewriteConfig({ staticExport: { sha256: sha256Of(tar) } });
    await daemon.untilServing('2024-06-01');
  });

  test('provides a bundle whose version is the start of its digest if no file name contains a version', async () => {
    const one = bundle('one');
    const { origin: base } = await startOrigin(bench, { '/download': one });
    const daemon = await bench.start({ staticExport: { bundleUrl: `${base}/download` } });
    await daemon.untilServing(sha256Of(one).slice(0, 12));
  });

  test('can be a file: link', async () => {
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

  test('keeps the last fetched bundle available as stale after a restart if the origin is unavailable', async () => {
    const server = await startOrigin(bench, { '/docs-2024-06-01.tar.gz': bundle('one') });
    const config = { staticExport: { bundleUrl: `${server.origin}/docs-2024-06-01.tar.gz` }, network: unretried };
    const first = await bench.start(config);
    await first.untilServing('2024-06-01');
    expect(await first.stop()).toBe(0);
    await server.close();

    const second = await bench.start(null, { folder: first.folder });
    const status = await second.until(({ state, lastError }) => state === 'stale' && lastError !== null);
    expect(status).toMatchObject({ active: { version: '2024-06-01' }, lastError: { code: 'source_unreachable' } });
    expect(await homePage(second)).toContain('one');
    expect((await fetch(`${second.admin}/readyz`)).status).toBe(200);
  });

  test('is fetched again at each start, and new content is served under the same version', async () => {
    const bundles = { '/docs-2024-06-01.tar.gz': bundle('one') };
    const { origin: base } = await startOrigin(bench, bundles);
    const first = await bench.start({ staticExport: { bundleUrl: `${base}/docs-2024-06-01.tar.gz` } });
    await first.untilServing('2024-06-01');
    await first.stop();

    bundles['/docs-2024-06-01.tar.gz'] = bundle('two');
    const second = await bench.start(null, { folder: first.folder });
    const digest = sha256Of(bundles['/docs-2024-06-01.tar.gz']);
    await second.until(({ active }) => active?.digest === digest);
    expect(await homePage(second)).toContain('two');
    // The old release stays on disk.
    expect(await readdir(join(second.dataDir, 'releases'))).toHaveLength(2);
  });
});

describe('bundleUrl with a version', () => {
  test('is fetched and served under the configured version, whatever the file name is', async () => {
    const { origin: base } = await startOrigin(bench, { '/docs-2024-06-01.tar.gz': bundle('one') });
    const daemon = await bench.start({
      staticExport: { bundleUrl: `${base}/docs-2024-06-01.tar.gz`, version: 'summer' },
    });
    expect(await daemon.untilServing('summer')).toMatchObject({ pinned: 'summer', versions: [{ version: 'summer' }] });
  });

  test('is served from disk after a restart, without a request to the origin', async () => {
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

  test('reports in the status that a changed link was not fetched', async () => {
    const server = await startOrigin(bench, { '/docs.tar.gz': bundle('one') });
    const daemon = await bench.start({ staticExport: { bundleUrl: `${server.origin}/docs.tar.gz`, version: 'v1' } });
    await daemon.untilServing('v1');
    const requestCount = server.requests.length;
    await daemon.rewriteConfig({ staticExport: { bundleUrl: `${server.origin}/other.tar.gz` } });
    const { notices } = await daemon.until((status) => status.notices.length > 0);
    expect(notices.join()).toMatch(/did not fetch the configured bundleUrl/);
    expect(server.requests.length).toBe(requestCount);
  });

  test('is fetched again if sha256 requires another digest for the pinned version', async () => {
    const bundles = { '/docs.tar.gz': bundle('one') };
    const { origin: base } = await startOrigin(bench, bundles);
    const daemon = await bench.start({ staticExport: { bundleUrl: `${base}/docs.tar.gz`, version: 'v1' } });
    await daemon.untilServing('v1');
    bundles['/docs.tar.gz'] = bundle('two');
    const sha256 = sha256Of(bundles['/docs.tar.gz']);
    await daemon.rewriteConfig({ staticExport: { sha256 } });
    await daemon.until(({ active }) => active?.digest === sha256);
    expect(await homePage(daemon)).toContain('two');
  });

  test.each([
    ['version_mismatch', { version: 'v9' }],
    ['domain_mismatch', { domain: 'other' }],
    ['manifest_mismatch', { files: [], pageCount: 0 }],
  ])('is rejected if the manifest contradicts the version, the domain or the files: %s', async (code, fields) => {
    const { origin: base } = await startOrigin(bench, {
      '/one.tar.gz': bundleWithManifest('one', { version: 'v1', domain: 'acme' }),
      '/two.tar.gz': bundleWithManifest('two', { version: 'v2', domain: 'acme', ...fields }),
    });
    const daemon = await bench.start({ staticExport: { bundleUrl: `${base}/one.tar.gz`, version: 'v1' } });
    await daemon.untilServing('v1');
    await daemon.rewriteConfig({ staticExport: { bundleUrl: `${base}/two.tar.gz`, version: 'v2' } });
    expect(await daemon.untilError(code)).toMatchObject({ next: expect.any(String) });
    expect(await daemon.status()).toMatchObject({ state: 'stale', active: { version: 'v1' }, pinned: 'v2' });
    const { notices } = await daemon.status();
    expect(notices).toContainEqual(expect.stringMatching(/pins version v2, which.*no version after a restart/));
    const metrics = await (await fetch(`${daemon.admin}/metrics`)).text();
    expect(metrics).toContain('docshelf_build_info{version=');
    expect(await homePage(daemon)).toContain('one');
  });
});

describe('a version without bundleUrl', () => {
  test('causes version_not_found if the version is not stored: a running daemon keeps serving, a restarted daemon is not ready', async () => {
    const { origin: base } = await startOrigin(bench, { '/docs-2024-06-01.tar.gz': bundle('one') });
    const first = await bench.start({ staticExport: { bundleUrl: `${base}/docs-2024-06-01.tar.gz` } });
    await first.untilServing('2024-06-01');
    await first.rewriteConfig({ staticExport: { bundleUrl: null, version: '2030-01-01' } });
    const { message } = await first.untilError('version_not_found');
    expect(message).toContain('2024-06-01');
    expect(await first.status()).toMatchObject({ state: 'stale', active: { version: '2024-06-01' } });
    expect(await homePage(first)).toContain('one');
    await first.stop();

    const second = await bench.start(null, { folder: first.folder });
    expect((await second.untilError('version_not_found')).message).toContain('2024-06-01');
    expect(await second.status()).toMatchObject({ state: 'waiting', active: null });
    expect((await fetch(`${second.admin}/readyz`)).status).toBe(503);
  });

  test('is served from the stored releases', async () => {
    const { origin: base } = await startOrigin(bench, {
      '/docs-2024-06-01.tar.gz': bundle('one'),
      '/docs-2024-07-01.tar.gz': bundle('two'),
    });
    const daemon = await bench.start({ staticExport: { bundleUrl: `${base}/docs-2024-06-01.tar.gz` } });
    await daemon.untilServing('2024-06-01');
    await daemon.rewriteConfig({ staticExport: { bundleUrl: `${base}/docs-2024-07-01.tar.gz` } });
    await daemon.untilServing('2024-07-01');
    await daemon.rewriteConfig({ staticExport: { bundleUrl: null, version: '2024-06-01' } });
    await daemon.untilServing('2024-06-01');
    expect(await homePage(daemon)).toContain('one');
  });
});

describe('a deployment in the state waiting or off', () => {
  test('responds on the site with a 503 page for readers, and on the admin listener with the reason', async () => {
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

  test('responds with a 404 page and is ready if enabled is false', async () => {
    const daemon = await bench.start({ staticExport: { enabled: false } });
    await daemon.until(({ state }) => state === 'off');
    const page = await fetch(`${daemon.site}/`);
    expect(page.status).toBe(404);
    expect(await page.text()).toContain('turned off');
    expect((await fetch(`${daemon.admin}/readyz`)).status).toBe(200);
    expect((await fetch(`${daemon.site}/_docshelf/features.json`)).status).toBe(200);
  });

  test('serves the stored version again if enabled is set to false and back to true', async () => {
    const server = await startOrigin(bench, { '/docs-2024-06-01.tar.gz': bundle('one') });
    const daemon = await bench.start({ staticExport: { bundleUrl: `${server.origin}/docs-2024-06-01.tar.gz` } });
    await daemon.untilServing('2024-06-01');
    await daemon.rewriteConfig({ staticExport: { enabled: false } });
    await waitFor(
      async () => ((await fetch(`${daemon.site}/`)).status === 404 ? true : null),
      () => 'the site goes on',
    );
    expect(await daemon.status()).toMatchObject({ state: 'off', active: null });
    await daemon.rewriteConfig({ staticExport: { enabled: true } });
    await daemon.untilServing('2024-06-01');
    expect(await homePage(daemon)).toContain('one');
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
