import { createHash, randomBytes } from 'node:crypto';
import { open, readdir, readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { type FetchRequest, fetchBundle } from '../../src/deploy/fetch/fetch.ts';
import type { BundleSource, OpenedBundle } from '../../src/deploy/ports.ts';
import { httpBundleSource } from '../../src/deploy/sources/http-bundle-source.ts';
import { Secret } from '../../src/domain/secret.ts';
import { answering, bundleAnswer, httpServer, type LocalServer, tcpServer } from '../helpers/local-server.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { httpClientOf } from '../net/http-client-of.ts';

const BUNDLE = randomBytes(300_000);
const DIGEST = createHash('sha256').update(BUNDLE).digest('hex');
const FALSE_DIGEST = '0'.repeat(64);
const PATH = '/acme-export-2024-06-01.tar.gz?X-Amz-Signature=canary';
const TOOLS = { sleep: async () => {}, random: () => 0 };

let spoolDir: string;
beforeEach(async () => {
  spoolDir = newFolder();
});

const fetchFrom = (server: LocalServer, request: Partial<FetchRequest> = {}) =>
  fetchWith(httpBundleSource(httpClientOf()), { link: new Secret(server.origin + PATH), ...request });

const fetchWith = (source: BundleSource, request: Pick<FetchRequest, 'link'> & Partial<FetchRequest>) =>
  fetchBundle(
    [source],
    {
      sha256: null,
      spoolDir,
      bundleFile: join(spoolDir, 'whole'),
      bundleBytesMax: 1_000_000,
      retriesMax: 3,
      signal: new AbortController().signal,
      ...request,
    },
    TOOLS,
  );

const spooled = async (): Promise<string[]> => (await readdir(spoolDir)).filter((name) => name !== 'lock');

/**
 * Serves the bundle, but cuts each of the first `cuts` responses after `onProgress` has reported 100,000 spooled bytes. An
 * earlier cut would leave a random number of bytes.
 */
function cutting(etag: string | null, cuts: number) {
  const whole = bundleAnswer(BUNDLE, etag);
  let served = 0;
  let cutAt = Number.POSITIVE_INFINITY;
  let cut = (): void => {};
  const answer: RequestListener = (request, response) => {
    served += 1;
    cutAt = Number.POSITIVE_INFINITY;
    if (served <= cuts) {
      response.end = ((body: Buffer) => {
        cutAt = BUNDLE.length - body.length + 100_000;
        cut = () => response.socket?.destroy();
        return response.write(body.subarray(0, 100_000));
      }) as unknown as typeof response.end;
    }
    whole(request, response);
  };
  const onProgress = (doneBytes: number): void => {
    if (doneBytes === cutAt) cut();
  };
  return { answer, onProgress };
}

describe('fetchBundle()', () => {
  test('stores a complete bundle in the spool and returns its digest, size and name', async () => {
    const server = await httpServer(bundleAnswer(BUNDLE, '"v1"'));
    const progress: [number, number | null][] = [];
    const bundle = await fetchFrom(server, { sha256: DIGEST, onProgress: (...step) => progress.push(step) });
    expect(bundle).toMatchObject({
      digest: DIGEST,
      sizeBytes: BUNDLE.length,
      fileName: 'acme-export-2024-06-01.tar.gz',
    });
    expect((await readFile(join(spoolDir, 'whole'))).equals(BUNDLE)).toBe(true);
    expect(await spooled()).toEqual(['whole']);
    expect(progress[0]).toEqual([0, BUNDLE.length]);
    expect(progress.at(-1)).toEqual([BUNDLE.length, BUNDLE.length]);
  });

  test('resumes an interrupted transfer', async () => {
    const { answer, onProgress } = cutting('"v1"', 2);
    const server = await httpServer(answer);
    await fetchFrom(server, { sha256: DIGEST, onProgress });
    expect((await readFile(join(spoolDir, 'whole'))).equals(BUNDLE)).toBe(true);
    expect(server.requests.map((request) => request.headers.range)).toEqual([
      undefined,
      'bytes=100000-',
      'bytes=200000-',
    ]);
  });

  test('requests the whole bundle again after an interruption if the server has sent no ETag', async () => {
    const { answer, onProgress } = cutting(null, 1);
    const server = await httpServer(answer);
    const bundle = await fetchFrom(server, { onProgress });
    expect(bundle.digest).toBe(DIGEST);
    expect(server.requests.map((request) => request.headers.range)).toEqual([undefined, undefined]);
  });

  test('keeps the received bytes after a failure, and continues after these bytes in a later fetch with a renewed link', async () => {
    const { answer, onProgress } = cutting('"v1"', 1);
    const cut = await httpServer(answer);
    await expect(fetchFrom(cut, { onProgress, retriesMax: 0 })).rejects.toMatchObject({ code: 'source_truncated' });
    expect((await spooled()).length).toBe(2);
    const renewed = new Secret(cut.origin + PATH.replace('canary', 'renewed'));
    expect((await fetchFrom(cut, { link: renewed })).digest).toBe(DIGEST);
    expect(cut.requests.at(-1)?.headers.range).toBe('bytes=100000-');
  });

  test('fails with wrong_digest without a retry if the digest differs, and deletes the received content', async () => {
    const server = await httpServer(bundleAnswer(BUNDLE, '"v1"'));
    await expect(fetchFrom(server, { sha256: FALSE_DIGEST })).rejects.toMatchObject({
      code: 'wrong_digest',
      fields: { expected: FALSE_DIGEST, found: DIGEST },
    });
    expect(server.requests.length).toBe(1);
    expect(await spooled()).toEqual([]);
  });

  test('fetches once more from the start if the digest is wrong after resuming', async () => {
    const { answer, onProgress } = cutting('"v1"', 1);
    const cut = await httpServer(answer);
    await expect(fetchFrom(cut, { onProgress, retriesMax: 0 })).rejects.toMatchObject({ code: 'source_truncated' });
    const part = (await spooled()).find((name) => name.endsWith('.part')) ?? '';
    const handle = await open(join(spoolDir, part), 'r+');
    await handle.write('damaged on disk', 0);
    await handle.close();
    expect((await fetchFrom(cut, { sha256: DIGEST })).digest).toBe(DIGEST);
  });

  test('rejects a bundle over the size limit before the transfer, or during the transfer if the response declares no length', async () => {
    const declaring = await httpServer(bundleAnswer(BUNDLE, '"v1"'));
    const progress = vi.fn();
    const bounded = { bundleBytesMax: BUNDLE.length - 1 };
    await expect(fetchFrom(declaring, { onProgress: progress, ...bounded })).rejects.toMatchObject({
      code: 'source_too_large',
    });
    expect(progress).not.toHaveBeenCalled();
    await vi.waitFor(() => expect(declaring.openSockets()).toBe(0), 30_000);

    const endless = await httpServer((_, response) => {
      const timer = setInterval(() => response.write(Buffer.alloc(65_536)), 1);
      response.on('close', () => clearInterval(timer));
    });
    await expect(fetchFrom(endless, bounded)).rejects.toMatchObject({ code: 'source_too_large' });
    expect(await spooled()).toEqual([]);
    await vi.waitFor(() => expect(endless.openSockets()).toBe(0), 30_000);
  });

  test('accepts a bundle of exactly the maximum size', async () => {
    const server = await httpServer(bundleAnswer(BUNDLE, null));
    expect((await fetchFrom(server, { bundleBytesMax: BUNDLE.length })).sizeBytes).toBe(BUNDLE.length);
  });

  test('accepts a response without a length only if its content has the configured digest', async () => {
    const head = 'HTTP/1.0 200 OK\r\n\r\n';
    const whole = await tcpServer(answering(head, (socket) => socket.end(BUNDLE)));
    await expect(fetchFrom(whole)).rejects.toMatchObject({ code: 'source_no_length', fields: { retryable: false } });
    expect((await fetchFrom(whole, { sha256: DIGEST })).digest).toBe(DIGEST);

    const cut = await tcpServer(answering(head, (socket) => socket.end(BUNDLE.subarray(0, 1000))));
    await expect(fetchFrom(cut, { sha256: DIGEST })).rejects.toMatchObject({ code: 'wrong_digest' });
    expect((await spooled()).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  test('accepts a chunked response', async () => {
    const server = await httpServer((_, response) => {
      response.write(BUNDLE.subarray(0, 1000));
      response.end(BUNDLE.subarray(1000));
    });
    expect((await fetchFrom(server)).digest).toBe(DIGEST);
  });

  test('retries temporary errors, but not permanent errors', async () => {
    const whole = bundleAnswer(BUNDLE, null);
    const statuses = [503, 429, 500];
    const server = await httpServer((request, response) => {
      const status = statuses.shift();
      if (status === undefined) whole(request, response);
      else response.writeHead(status).end();
    });
    expect((await fetchFrom(server)).digest).toBe(DIGEST);
    expect(server.requests.length).toBe(4);

    const missing = await httpServer((_, response) => response.writeHead(404).end());
    await expect(fetchFrom(missing)).rejects.toMatchObject({ code: 'bundle_not_found' });
    expect(missing.requests.length).toBe(1);
  });

  test('stops at once if it is aborted, keeps the partial file and closes the socket', async () => {
    const server = await httpServer((_, response) => {
      response.writeHead(200, { etag: '"v1"', 'content-length': BUNDLE.length });
      response.write(BUNDLE.subarray(0, 1000));
    });
    const abort = new AbortController();
    const reason = new Error('stopping');
    const onProgress = (doneBytes: number): void => {
      if (doneBytes > 0) abort.abort(reason);
    };
    await expect(fetchFrom(server, { signal: abort.signal, onProgress })).rejects.toBe(reason);
    expect((await spooled()).some((name) => name.endsWith('.part'))).toBe(true);
    await vi.waitFor(() => expect(server.openSockets()).toBe(0), 30_000);
  });

  test('rejects a link that no source supports', async () => {
    const server = await httpServer(() => {});
    await expect(fetchFrom(server, { link: new Secret('ftp://host/b.zip?canary') })).rejects.toMatchObject({
      code: 'source_failed',
    });
  });

  test('never includes the query of the link in an error', async () => {
    const answers: RequestListener[] = [
      bundleAnswer(BUNDLE, null),
      (_, response) => response.writeHead(200, { 'content-length': 10 }).write('cut', () => response.socket?.destroy()),
      (_, response) => response.writeHead(403).end('Request has expired'),
    ];
    for (const answer of answers) {
      const server = await httpServer(answer);
      const error = await fetchFrom(server, { sha256: FALSE_DIGEST, retriesMax: 0 }).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ name: 'DocshelfError' });
      expect(inspect(error, { depth: null, showHidden: true })).not.toContain('canary');
    }
  });
});

describe('fetchBundle() with a source that sends a wrong number of bytes', () => {
  const sourceOf = (bundle: Partial<OpenedBundle>, text: string): BundleSource => ({
    links: /^/,
    open: async () => ({
      stream: (async function* () {
        yield Buffer.from(text);
      })(),
      offset: 0,
      totalBytes: 5,
      endIsCertain: true,
      etag: '"v1"',
      fileName: null,
      close: () => {},
      ...bundle,
    }),
  });
  const run = (source: BundleSource) =>
    fetchWith(source, { link: new Secret('https://store.example/b'), bundleBytesMax: 100, retriesMax: 0 });

  test('keeps the received bytes if there are too few, and deletes them if there are too many', async () => {
    const fields = (receivedBytes: number) => ({ receivedBytes, totalBytes: 5, retryable: true });
    await expect(run(sourceOf({}, '123'))).rejects.toMatchObject({ code: 'source_truncated', fields: fields(3) });
    expect((await spooled()).length).toBe(2);
    await expect(run(sourceOf({}, '1234567'))).rejects.toMatchObject({ code: 'source_truncated', fields: fields(7) });
    expect(await spooled()).toEqual([]);
  });
});
