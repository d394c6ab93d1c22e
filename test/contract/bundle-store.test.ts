import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { parse } from 'content-disposition';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BundleStore } from '../../src/export/ports.ts';
import { DiskBundleStore } from '../../src/export/stores/disk-bundle-store.ts';
import { PART_BYTES } from '../../src/export/stores/s3-objects.ts';
import type { ApiEnv } from '../../src/http/api/auth.ts';
import { bundleDownload } from '../../src/http/api/exports.ts';
import { openListener } from '../../src/http/listener/listener.ts';
import { answerFault } from '../../src/http/problem.ts';
import { packedBundle } from '../export/stores/packed-bundle.ts';
import { s3StoreAt, startS3Server } from '../export/stores/s3-server.ts';
import { newFolder } from '../helpers/new-folder.ts';

/** Contract of each BundleStore (src/export/ports.ts), for all kinds. */
interface Subject {
  readonly store: BundleStore;
  close(): Promise<void>;
}

const NEVER = new AbortController().signal;
const HOUR_MS = 3600_000;
const NAME = 'acme-export-2024-06-01.tar.gz';

async function diskSubject(dir: string, nowMs: () => number): Promise<Subject> {
  const app = new Hono<ApiEnv>();
  const listener = await openListener({
    name: 'api',
    host: '127.0.0.1',
    port: 0,
    fetch: (request, env) => app.fetch(request, env),
  });
  const store = new DiskBundleStore({ dir, publicUrl: () => listener.url, nowMs });
  app.get('/v1/bundles/:sha256/:fileName', bundleDownload({ follow: (link) => store.follow(link) }));
  app.onError((error, c) => answerFault(error, c.req.raw, null, { metrics: { onError: () => {} } }));
  return { store, close: () => listener.stop(0) };
}

async function s3Subject(_dir: string, nowMs: () => number): Promise<Subject> {
  const server = await startS3Server();
  const store = s3StoreAt(server.endpoint, { prefix: 'docs/exports', nowMs });
  return { store, close: server.close };
}

describe.each([
  ['DiskBundleStore', diskSubject],
  ['S3BundleStore', s3Subject],
])('bundle store %s', (_, create) => {
  let dir: string;
  let subject: Subject;
  /** Delay of the store's clock. */
  let behindMs = 0;

  beforeAll(async () => {
    dir = newFolder();
    subject = await create(dir, () => Date.now() - behindMs);
  });
  afterAll(async () => {
    await subject.store.close();
    await subject.close();
  });

  const download = async (sha256: string, fileName = NAME, ttlMs = HOUR_MS): Promise<Response> =>
    fetch((await subject.store.link({ sha256, fileName }, ttlMs)).url);
  const bytesOf = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer());

  test.each([
    ['one byte', 1],
    ['one part', PART_BYTES],
    ['several parts', 2 * PART_BYTES + 17],
  ])('returns the stored bytes of a bundle of %s, under the file name in the link', async (_size, length) => {
    const bytes = randomBytes(length);
    const bundle = await packedBundle(dir, bytes);
    expect(await subject.store.has(bundle.sha256)).toBe(false);
    await subject.store.put(bundle, NEVER);
    expect(await subject.store.has(bundle.sha256)).toBe(true);

    const answer = await download(bundle.sha256);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/gzip');
    expect(parse(answer.headers.get('content-disposition') ?? '').parameters.filename).toBe(NAME);
    expect((await bytesOf(answer)).equals(bytes)).toBe(true);
  });

  test.each(['a b+c&d=e?f#g%h.tar.gz', 'größe-€.tar.gz', `quote"and'back\\slash.tar.gz`, 'a%2Fb;c,d.tar.gz'])(
    'returns a bundle under its file name, also with special characters: %s',
    async (fileName) => {
      const bundle = await packedBundle(dir, randomBytes(10));
      await subject.store.put(bundle, NEVER);
      const answer = await download(bundle.sha256, fileName);
      expect(answer.status).toBe(200);
      expect(parse(answer.headers.get('content-disposition') ?? '').parameters.filename).toBe(fileName);
    },
  );

  test('serves a byte range of a bundle', async () => {
    const bytes = randomBytes(1000);
    const bundle = await packedBundle(dir, bytes);
    await subject.store.put(bundle, NEVER);
    const { url } = await subject.store.link({ sha256: bundle.sha256, fileName: NAME }, HOUR_MS);
    const answer = await fetch(url, { headers: { Range: 'bytes=100-199' } });
    expect(answer.status).toBe(206);
    expect(answer.headers.get('content-range')).toBe('bytes 100-199/1000');
    expect((await bytesOf(answer)).equals(bytes.subarray(100, 200))).toBe(true);
  });

  test('accepts a bundle that is already stored, and several uploads of one bundle at the same time', async () => {
    const bytes = randomBytes(PART_BYTES + 1);
    const copies = await Promise.all([1, 2, 3].map(() => packedBundle(dir, bytes)));
    await Promise.all(copies.map((copy) => subject.store.put(copy, NEVER)));
    const again = await packedBundle(dir, bytes);
    await subject.store.put(again, NEVER);
    expect((await bytesOf(await download(again.sha256))).equals(bytes)).toBe(true);
  });

  test('serves no part of a bundle whose put() was aborted, and can store the bundle later', async () => {
    const bundle = await packedBundle(dir, randomBytes(3 * PART_BYTES));
    const reason = new Error('enough');
    const abort = new AbortController();
    const putting = subject.store.put(bundle, abort.signal);
    abort.abort(reason);
    await expect(putting).rejects.toBe(reason);
    expect(await subject.store.has(bundle.sha256)).toBe(false);
    expect((await download(bundle.sha256)).status).toBe(404);
    await subject.store.put(bundle, NEVER);
    expect((await download(bundle.sha256)).status).toBe(200);
  });

  test.each([
    ['other bytes', (bytes: Buffer) => bytes.fill(0, 7, 8)],
    ['too few bytes', (bytes: Buffer) => bytes.subarray(1)],
    ['too many bytes', (bytes: Buffer) => Buffer.concat([bytes, bytes])],
  ])('rejects a file whose content does not match its digest: %s', async (_change, change) => {
    for (const length of [100, PART_BYTES + 100]) {
      const bytes = Buffer.alloc(length, 1);
      bytes.write(randomBytes(4).toString('hex'), 8);
      const bundle = await packedBundle(dir, bytes);
      await writeFile(bundle.file, change(bytes));
      await expect(subject.store.put(bundle, NEVER)).rejects.toMatchObject({ code: 'store_failed' });
      expect(await subject.store.has(bundle.sha256)).toBe(false);
    }
  });

  test('returns the bytes of a bundle, and rejects a missing bundle with bundle_gone', async () => {
    const bytes = randomBytes(600_000);
    const bundle = await packedBundle(dir, bytes);
    await subject.store.put(bundle, NEVER);
    expect(await buffer(await subject.store.read(bundle.sha256, NEVER))).toEqual(bytes);
    await expect(subject.store.read('0'.repeat(64), NEVER)).rejects.toMatchObject({ code: 'bundle_gone' });
  });

  test('reports cannot_read for a missing file', async () => {
    const bundle = { ...(await packedBundle(dir, randomBytes(10))), file: join(dir, 'none') };
    await expect(subject.store.put(bundle, NEVER)).rejects.toMatchObject({ code: 'cannot_read' });
  });

  test('removes a bundle, and accepts the removal of a missing bundle', async () => {
    const bundle = await packedBundle(dir, randomBytes(10));
    await subject.store.put(bundle, NEVER);
    await subject.store.remove(bundle.sha256);
    expect(await subject.store.has(bundle.sha256)).toBe(false);
    expect((await download(bundle.sha256)).status).toBe(404);
    await expect(subject.store.remove(bundle.sha256)).resolves.toBeUndefined();
  });

  test('rejects an expired link, and keeps the bundle', async () => {
    const bundle = await packedBundle(dir, randomBytes(10));
    await subject.store.put(bundle, NEVER);
    behindMs = 10_000;
    const fromMs = Date.now() - 8_000;
    const { url, expiresAt } = await subject.store.link({ sha256: bundle.sha256, fileName: NAME }, 2_000);
    behindMs = 0;
    // Links expire at whole seconds.
    expect(expiresAt.getTime()).toBeGreaterThan(fromMs - 1_000);
    expect(expiresAt.getTime()).toBeLessThan(Date.now() - 8_000 + 1_000);
    const answer = await fetch(url);
    expect(answer.status).toBe(403);
    expect(await answer.text()).toMatch(/has expired/);
    expect((await download(bundle.sha256)).status).toBe(200);
  });

  test('creates links that are valid for up to 7 days', async () => {
    const link = (ttlMs: number) => subject.store.link({ sha256: '0'.repeat(64), fileName: NAME }, ttlMs);
    const { expiresAt } = await link(7 * 24 * HOUR_MS);
    const days = (expiresAt.getTime() - Date.now()) / (24 * HOUR_MS);
    expect(days).toBeGreaterThan(6.99);
    expect(days).toBeLessThanOrEqual(7);
  });
});
