import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { httpServer } from '../helpers/local-server.ts';
import { bundle, bundleWithManifest, folderOf } from './bundles.ts';
import { startOrigin } from './origin.ts';

const bench = openBench(afterEach);
const HASHED = { june: '/assets/app-4f3a9c1e.js', july: '/assets/app-77b0d2c4.js' };

const statusOf = async (daemon: DaemonProcess, path: string): Promise<number> =>
  (await fetch(`${daemon.site}${path}`)).status;
const homePage = async (daemon: DaemonProcess): Promise<string> => (await fetch(`${daemon.site}/`)).text();

describe('stored versions', () => {
  test('serve no pages after a swap to a newer version, but still serve their hashed assets', async () => {
    const { origin } = await startOrigin(bench, {
      '/docs-2024-06-01.tar.gz': bundle('june', { 'assets/app-4f3a9c1e.js': 'june()', 'only-june.html': 'june' }),
      '/docs-2024-07-01.tar.gz': bundle('july', { 'assets/app-77b0d2c4.js': 'july()' }),
    });
    const daemon = await bench.start({ staticExport: { bundleUrl: `${origin}/docs-2024-06-01.tar.gz` } });
    await daemon.untilServing('2024-06-01');
    expect([await statusOf(daemon, HASHED.june), await statusOf(daemon, '/only-june')]).toEqual([200, 200]);
    await daemon.rewriteConfig({ staticExport: { bundleUrl: `${origin}/docs-2024-07-01.tar.gz` } });
    await daemon.untilServing('2024-07-01');
    expect([await statusOf(daemon, HASHED.july), await statusOf(daemon, HASHED.june)]).toEqual([200, 200]);
    expect([await statusOf(daemon, '/only-june'), await statusOf(daemon, '/only-june.html')]).toEqual([404, 404]);
  });

  test('are removed oldest first beyond the limit staticExport.keep, but the active version always stays', async () => {
    const folder = await bench.folder();
    const dates = ['2024-04-01', '2024-05-01', '2024-06-01', '2024-07-01'];
    const archives = dates.map((date) => [`docs-${date}.tar.gz`, bundle(date)] as const);
    await folderOf(join(folder, 'bundles'), Object.fromEntries(archives));
    const daemon = await bench.start({ staticExport: { keep: 1 } }, { folder });
    const { versions } = await daemon.until(
      (status) => status.active?.version === '2024-07-01' && status.versions.length === 2,
    );
    expect(versions.map(({ version }) => version)).toEqual(['2024-07-01', '2024-06-01']);
    expect(await homePage(daemon)).toContain('2024-07-01');
  });
});

describe('a data folder', () => {
  test('belongs to one domain, so a reload with another domain is rejected and a start exits with 78', async () => {
    const { origin } = await startOrigin(bench, {
      '/docs-2024-06-01.tar.gz': bundleWithManifest('june', { domain: 'acme' }),
    });
    const daemon = await bench.start({ staticExport: { bundleUrl: `${origin}/docs-2024-06-01.tar.gz` } });
    expect((await daemon.untilServing('2024-06-01')).deployment.domain).toBe('acme');
    await daemon.rewriteConfig({ deployment: { domain: 'other' } });
    const { lastReload } = await daemon.until((status) => status.lastReload !== null);
    expect(lastReload).toMatchObject({ ok: false, error: expect.stringContaining('acme') });
    expect(await homePage(daemon)).toContain('june');
    await daemon.stop();
    const result = await bench.run(['serve', '--json'], { cwd: daemon.folder });
    expect({ code: result.code, fault: result.json().code }).toEqual({ code: 78, fault: 'config_invalid' });
  });

  test('can be shared by daemons with different pinned versions, which do not change the stored active version', async () => {
    const folder = await bench.folder();
    await folderOf(folder, { 'docs-2024-06-01.tar.gz': bundle('june'), 'docs-2024-07-01.tar.gz': bundle('july') });
    await bench.writeConfig(folder, {});
    for (const date of ['2024-07-01', '2024-06-01']) {
      await bench.run(['bundle', 'import', `docs-${date}.tar.gz`], { cwd: folder });
    }
    const active = await readFile(join(folder, 'data/sites/docs/active'), 'utf8');
    const storage = { dir: join(folder, 'data') };
    const june = await bench.start({ storage, staticExport: { version: '2024-06-01' } });
    const july = await bench.start({ storage, staticExport: { version: '2024-07-01', keep: 0 } });
    await Promise.all([june.untilServing('2024-06-01'), july.untilServing('2024-07-01')]);
    expect(await Promise.all([homePage(june), homePage(july)])).toEqual([
      expect.stringContaining('june'),
      expect.stringContaining('july'),
    ]);
    expect(await readFile(join(folder, 'data/sites/docs/active'), 'utf8')).toBe(active);
  });
});

describe('a slow fetch', () => {
  test('is aborted if a reload changes bundleUrl', async () => {
    const july = bundle('july');
    const server = await httpServer((request, response) => {
      if (request.url?.includes('2024-06-01')) response.writeHead(200, { 'content-length': 100 }).flushHeaders();
      else response.end(july);
    });
    bench.onEnd(() => server.close());
    const daemon = await bench.start({ staticExport: { bundleUrl: `${server.origin}/docs-2024-06-01.tar.gz` } });
    await daemon.until(({ activity }) => activity?.startsWith('fetching') === true);
    const waiting = await (await fetch(`${daemon.site}/`)).text();
    expect(waiting).toContain('This documentation is not ready yet');
    expect(waiting).not.toContain('fetching');
    await daemon.rewriteConfig({ staticExport: { bundleUrl: `${server.origin}/docs-2024-07-01.tar.gz` } });
    expect(await daemon.untilServing('2024-07-01')).toMatchObject({ lastError: null });
  });

  test('does not prevent docshelf from serving the last active version after a restart, until the fetched bundle replaces it', async () => {
    const bundles = { june: bundle('june'), july: bundle('july') };
    let answer: (() => void) | null = null;
    let isSlow = false;
    const server = await httpServer((_request, response) => {
      if (!isSlow) response.end(bundles.june);
      else answer = () => response.end(bundles.july);
    });
    bench.onEnd(() => server.close());
    const first = await bench.start({ staticExport: { bundleUrl: `${server.origin}/docs-2024-06-01.tar.gz` } });
    await first.untilServing('2024-06-01');
    await first.stop();
    isSlow = true;
    const second = await bench.start(null, { folder: first.folder });
    await second.until(({ state }) => state === 'stale');
    expect(await homePage(second)).toContain('june');
    (answer as (() => void) | null)?.();
    await second.untilServing('2024-06-01');
    expect(await homePage(second)).toContain('july');
  });

  test('is retried after a failure by POST /v1/reload, without a change of the config', async () => {
    let isExpired = true;
    const server = await httpServer((_request, response) => {
      if (isExpired) response.writeHead(403).end('<Error><Message>Request has expired</Message></Error>');
      else response.end(bundle('june'));
    });
    bench.onEnd(() => server.close());
    const daemon = await bench.start({
      admin: { token: 'token-token-token' },
      staticExport: { bundleUrl: `${server.origin}/docs-2024-06-01.tar.gz` },
    });
    await daemon.untilError('link_expired');
    isExpired = false;
    const headers = { authorization: 'Bearer token-token-token' };
    const answer = await fetch(`${daemon.admin}/v1/reload`, { method: 'POST', headers });
    expect(answer.status).toBe(200);
    expect(await daemon.status()).toMatchObject({ state: 'ready', lastError: null, active: { version: '2024-06-01' } });
  });
});
