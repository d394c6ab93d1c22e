import { chmod, chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { type ConfigFile, DaemonProcess, openBench } from '../helpers/daemon.ts';
import { bundle, folderOf, largeBundle } from './bundles.ts';
import { startServing } from './start.ts';

const bench = openBench(afterEach);
const TOKEN = 'a-long-random-token';
/** Default of server.shutdownTimeout, after which the daemon would end in any case. */
const DEFAULT_SHUTDOWN_MS = 20_000;
/** Far more than the buffers of both ends of a connection. */
const LARGE_BYTES = 32 * 1024 ** 2;

const startWithPages = (config: ConfigFile = {}) =>
  startServing(bench, { 'docs-2024-06-01.tar.gz': bundle('june') }, config);
const startWithLargeFile = (config: ConfigFile = {}) =>
  startServing(bench, { 'docs-2024-06-01.tar': largeBundle('june', LARGE_BYTES) }, config);

/** Starts a download and stops reading it. */
async function beginDownload(daemon: DaemonProcess): Promise<IncomingMessage> {
  const { hostname, port } = new URL(daemon.site);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ hostname, port, path: '/large.bin' }, resolve).on('error', reject).end();
  });
  bench.onEnd(() => response.destroy());
  return response;
}

async function bytesOf(response: IncomingMessage): Promise<number> {
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) bytes += chunk.length;
  return bytes;
}

describe('SIGTERM', () => {
  test('makes the daemon unready, rejects new connections, lets a slow download finish, and exits with 0', async () => {
    const daemon = await startWithLargeFile();
    const response = await beginDownload(daemon);
    daemon.signal('SIGTERM');
    await expect.poll(async () => (await fetch(`${daemon.admin}/readyz`)).status).toBe(503);
    await expect(fetch(`${daemon.site}/`)).rejects.toThrow();
    expect(await bytesOf(response)).toBe(LARGE_BYTES);
    expect(await daemon.ended()).toBe(0);

    const second = await bench.start(null, { folder: daemon.folder });
    await second.untilServing('2024-06-01');
    expect((await (await fetch(`${second.site}/large.bin`)).arrayBuffer()).byteLength).toBe(LARGE_BYTES);
  });

  test('aborts unfinished requests after server.shutdownTimeout, and still exits with 0', async () => {
    const daemon = await startWithLargeFile({ server: { shutdownTimeout: '1s' } });
    const response = await beginDownload(daemon);
    const startedMs = Date.now();
    expect(await daemon.stop()).toBe(0);
    expect(Date.now() - startedMs).toBeLessThan(DEFAULT_SHUTDOWN_MS);
    await expect(bytesOf(response)).rejects.toThrow();
  });

  test('ends the daemon within server.shutdownTimeout, even if a thread is busy', async () => {
    const folder = await bench.folder();
    const spin = join(folder, 'spin.mjs');
    await writeFile(
      spin,
      `import { isMainThread, Worker } from 'node:worker_threads';
       if (isMainThread) new Worker('for (;;) {}', { eval: true });`,
    );
    const env = { NODE_OPTIONS: `--import=${spin}` };
    const daemon = await bench.start({ server: { shutdownTimeout: '2s' } }, { folder, env });
    const startedMs = Date.now();
    expect(await daemon.stop()).toBe(0);
    expect(Date.now() - startedMs).toBeLessThan(DEFAULT_SHUTDOWN_MS);
  });

  test('ends the daemon immediately if the signal is sent again after more than a second', async () => {
    const daemon = await startWithLargeFile();
    await beginDownload(daemon);
    daemon.signal('SIGTERM');
    await daemon.untilLogged(/stopping/);
    await sleep(1_100);
    expect(await daemon.stop()).toBe(1);
  });

  test('lets a slow download finish if the signal is repeated at once, as npm and timeout(1) do', async () => {
    const daemon = await startWithLargeFile();
    const response = await beginDownload(daemon);
    daemon.signal('SIGTERM');
    await daemon.untilLogged(/stopping/);
    daemon.signal('SIGTERM');
    expect(await bytesOf(response)).toBe(LARGE_BYTES);
    expect(await daemon.ended()).toBe(0);
  });

  test('makes the daemon respond to an upload in progress with 503, the error code "stopping" and Connection: close', async () => {
    const daemon = await bench.start({ admin: { token: TOKEN } });
    const { hostname, port } = new URL(daemon.admin);
    const headers = { authorization: `Bearer ${TOKEN}`, expect: '100-continue', 'content-length': LARGE_BYTES };
    const upload: ClientRequest = request({ hostname, port, method: 'PUT', path: '/v1/bundles/a.tar', headers });
    bench.onEnd(() => upload.destroy());
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      upload.on('response', resolve).on('error', reject);
    });
    await new Promise<void>((resolve) => {
      upload.once('continue', resolve).flushHeaders();
    });
    upload.write(Buffer.alloc(1024));
    daemon.signal('SIGTERM');
    const response = await answered;
    expect([response.statusCode, response.headers.connection]).toEqual([503, 'close']);
    const chunks: Buffer[] = [];
    for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
    expect(JSON.parse(Buffer.concat(chunks).toString())).toMatchObject({ code: 'stopping' });
    upload.destroy();
    expect(await daemon.ended()).toBe(0);
  });

  test('aborts a fetch, so that the daemon exits with 0 before the shutdown timeout', async () => {
    const daemon = await bench.start({
      staticExport: { bundleUrl: 'http://127.0.0.1:1/docs-2024-06-01.tar.gz' },
      network: { retries: 8 },
    });
    await daemon.untilLogged(/fetch-started/);
    const startedMs = Date.now();
    expect(await daemon.stop()).toBe(0);
    expect(Date.now() - startedMs).toBeLessThan(DEFAULT_SHUTDOWN_MS);
  });
});

describe('a daemon that cannot write its heartbeat file', () => {
  /** Ordinary user of the daemon, because root may write to every folder. */
  const user = process.getuid?.() === 0 ? { uid: 65_532 } : {};

  test('exits with 73 and closes its listeners if the write fails at the start', async () => {
    const { folder, daemons } = await homeOfUser();
    await protect(daemons);
    const daemon = new DaemonProcess(await bench.writeConfig(folder, {}), {}, user);
    bench.onEnd(() => daemon.kill());
    expect(await daemon.ended()).toBe(73);
    expect(daemon.log()).toContain('Error code: cannot_write');
  });

  test('ends immediately after SIGTERM if the write fails at the stop', async () => {
    const { folder, daemons } = await homeOfUser();
    const daemon = await bench.start({}, { folder, ...user });
    await protect(daemons);
    const startedMs = Date.now();
    expect(await daemon.stop()).toBe(0);
    expect(Date.now() - startedMs).toBeLessThan(DEFAULT_SHUTDOWN_MS / 2);
  });

  test('is not contacted by a command after it was killed, even if the command cannot remove its heartbeat file', async () => {
    const { folder, daemons } = await homeOfUser();
    const daemon = await bench.start({}, { folder, ...user });
    await daemon.kill();
    await protect(daemons);
    const result = await bench.run(['search', 'words', '--json'], { cwd: folder, ...user });
    expect(result.json<{ code: string }>().code).toBe('version_not_found');
  });

  async function homeOfUser() {
    const folder = await bench.folder();
    const daemons = join(folder, 'data/daemons');
    await mkdir(daemons, { recursive: true });
    const { uid } = user;
    if (uid !== undefined) for (const path of [folder, join(folder, 'data'), daemons]) await chown(path, uid, uid);
    return { folder, daemons };
  }

  async function protect(path: string): Promise<void> {
    await chmod(path, 0o555);
    bench.onEnd(() => chmod(path, 0o755));
  }
});

describe('the log', () => {
  test('contains one line per request of the site, with the request ID of the response', async () => {
    const daemon = await startWithPages();
    const ids = new Map<string | null, string>();
    // The second response is prepared.
    for (const path of ['/', '/', '/guides/start?query=not-logged', '/nowhere']) {
      const answer = await fetch(`${daemon.site}${path}`);
      await answer.arrayBuffer();
      ids.set(answer.headers.get('x-request-id'), path);
    }
    await expect.poll(() => requestLines(daemon).length).toBeGreaterThanOrEqual(ids.size);
    expect(
      requestLines(daemon).map(({ method, path, status, version, requestId }) => [
        method,
        path,
        status,
        version,
        ids.has(String(requestId)),
      ]),
    ).toEqual([
      ['GET', '/', 200, '2024-06-01', true],
      ['GET', '/', 200, '2024-06-01', true],
      ['GET', '/guides/start', 200, '2024-06-01', true],
      ['GET', '/nowhere', 404, '2024-06-01', true],
    ]);
    expect(daemon.log()).not.toContain('not-logged');
  });

  test('contains only the error of a failed request and one line per change of state if log.access is false', async () => {
    const daemon = await startWithPages({ log: { access: false } });
    await (await fetch(`${daemon.site}/`)).arrayBuffer();
    const { active } = await daemon.status();
    await rm(join(daemon.dataDir, 'releases', active?.digest ?? '', 'site/guides/start.html'));
    const answer = await fetch(`${daemon.site}/guides/start`, { headers: { 'x-request-id': 'asked-by-a-test' } });
    expect([answer.status, answer.headers.get('x-request-id')]).toEqual([503, 'asked-by-a-test']);
    await daemon.untilLogged(/asked-by-a-test/);
    expect(daemon.lines().find(({ requestId }) => requestId === 'asked-by-a-test')).toMatchObject({
      event: 'failed',
      code: 'cannot_read',
    });
    await daemon.rewriteConfig({ staticExport: { enabled: false } });
    // The setting changes at once, but the loop turns the site off later.
    await daemon.untilLogged(/turned-off/);
    expect(await daemon.stop()).toBe(0);
    expect(requestLines(daemon)).toEqual([]);
    const changes = ['taken-in', 'activated', 'reloaded', 'turned-off'];
    const events = daemon.lines().map(({ event }) => String(event));
    expect(events.filter((event) => changes.includes(event))).toEqual(changes);
  });
});

const requestLines = (daemon: DaemonProcess): Record<string, unknown>[] =>
  daemon.lines().filter(({ event }) => event === 'request');

test('healthcheck exits with 0 once the daemon is ready, and before that with 69 unless --live is set', async () => {
  const daemon = await bench.start({});
  const health = async (...args: string[]): Promise<number | null> =>
    (await bench.run(['healthcheck', '--config', daemon.configFile, ...args])).code;
  expect(await health()).toBe(69);
  expect(await health('--live')).toBe(0);
  await folderOf(join(daemon.dataDir, 'inbox'), { 'docs-2024-06-01.tar.gz': bundle('june') });
  await daemon.untilServing('2024-06-01');
  expect(await health()).toBe(0);
  expect(await daemon.stop('SIGINT')).toBe(0);
});
