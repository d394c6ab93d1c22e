import { randomBytes } from 'node:crypto';
import { rm, truncate, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Hono } from 'hono';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { DocshelfError } from '../../../src/domain/errors.ts';
import type { LinkedBundle } from '../../../src/export/ports.ts';
import type { ApiEnv } from '../../../src/http/api/auth.ts';
import { type BundleDownloadOptions, bundleDownload } from '../../../src/http/api/exports.ts';
import type { Listener } from '../../../src/http/listener/listener.ts';
import { accessLog, type ServedRequest } from '../../../src/http/listener/served-request.ts';
import { answerFault } from '../../../src/http/problem.ts';
import { newFolder } from '../../helpers/new-folder.ts';
import { openFiles } from '../../helpers/open-files.ts';
import { listenerBench } from '../listener/listener-bench.ts';

const SHA256 = 'ab'.repeat(32);
const ETAG = `"${SHA256}"`;
const NAME = 'acme-export-2024-06-01.tar.gz';
const PATH = `/v1/bundles/${SHA256}/${NAME}?expires=1717243200&keyId=1&signature=canary`;
const BYTES = randomBytes(200_000);

const { open } = listenerBench({ name: 'api' });
let listener: Listener;
let bundle: LinkedBundle;
let follow: BundleDownloadOptions['follow'];
const served: ServedRequest[] = [];
const faults: string[] = [];
const logged: string[] = [];

beforeEach(async () => {
  bundle = {
    sha256: SHA256,
    sizeBytes: BYTES.length,
    diskPath: join(newFolder(), 'bundle'),
    contentType: 'application/gzip',
    contentDisposition: `attachment; filename=${NAME}`,
  };
  await writeFile(bundle.diskPath, BYTES);
  follow = async () => bundle;
  for (const list of [served, faults, logged]) list.length = 0;
  const app = new Hono<ApiEnv>();
  const download = bundleDownload({ follow: (link) => follow(link), onFault: ({ code }) => faults.push(code) });
  app.get('/v1/bundles/:sha256/:fileName', (c) => download(c));
  app.onError((error, c) => answerFault(error, c.req.raw, null, { metrics: { onError: () => {} } }));
  const fieldsOf = accessLog([]);
  listener = await open({
    fetch: (request, env) => app.fetch(request, env),
    onRequest: (each) => {
      served.push(each);
      logged.push(fieldsOf(each));
    },
  });
});

const send = (headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
  fetch(`${listener.url}${PATH}`, { method, headers });
const bytesOf = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer());

describe('bundleDownload() (handler of download links)', () => {
  const WHOLE = {
    'content-type': 'application/gzip',
    'content-disposition': `attachment; filename=${NAME}`,
    'content-length': String(BYTES.length),
    'accept-ranges': 'bytes',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    etag: ETAG,
  };

  it('sends the whole archive with its type, file name, size and ETag in the headers', async () => {
    const answer = await send();
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject(WHOLE);
    expect((await bytesOf(answer)).equals(BYTES)).toBe(true);
  });

  it('responds to HEAD with the headers of the whole archive and no body, even with a Range header', async () => {
    const answer = await send({ Range: 'bytes=0-1' }, 'HEAD');
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject(WHOLE);
    expect((await bytesOf(answer)).length).toBe(0);
  });

  it('decodes the path and query of the download link', async () => {
    const requests: unknown[] = [];
    follow = async ({ sha256, fileName, query }) => {
      requests.push(sha256, fileName, Object.fromEntries(query));
      return bundle;
    };
    const path = `/v1/bundles/${SHA256}/${encodeURIComponent('a%2Fb ü+&?.gz')}?expires=1&signature=a-_b`;
    expect((await fetch(`${listener.url}${path}`)).status).toBe(200);
    expect(requests).toEqual([SHA256, 'a%2Fb ü+&?.gz', { expires: '1', signature: 'a-_b' }]);
  });

  it.each<[headers: Record<string, string>, status: number, part?: [from: number, to: number]]>([
    [{ Range: 'bytes=100-199' }, 206, [100, 200]],
    [{ Range: 'bytes=-70000' }, 206, [130_000, 200_000]],
    [{ Range: 'bytes=100000-999999999' }, 206, [100_000, 200_000]],
    [{ Range: 'bytes=1-', 'If-Range': ETAG }, 206, [1, 200_000]],
    [{ Range: 'bytes=1-', 'If-Range': `"${'cd'.repeat(32)}"` }, 200],
    [{ Range: 'bytes=1-', 'If-Range': new Date().toUTCString() }, 200],
    [{ Range: 'bytes=0-1,5-6' }, 200],
    [{ 'If-None-Match': '*', Range: 'bytes=0-1' }, 304],
    [{ 'If-Match': '"other"' }, 412],
    [{ 'If-Modified-Since': new Date().toUTCString() }, 200],
    [{ Range: 'bytes=200000-' }, 416],
  ])('responds to the headers %j with status %i', async (headers, status, part) => {
    const answer = await send(headers);
    const [from, to] = part ?? [0, BYTES.length];
    const sent = await bytesOf(answer);
    const field = (name: string) => answer.headers.get(name);
    expect([answer.status, field('etag')]).toEqual([status, status < 400 ? ETAG : null]);
    if (status < 300) expect(sent.equals(BYTES.subarray(from, to))).toBe(true);
    if (status === 206) expect(field('content-range')).toBe(`bytes ${from}-${to - 1}/200000`);
    if (status !== 416) return;
    expect([field('content-range'), field('content-type')]).toEqual([
      'bytes */200000',
      expect.stringMatching(/^application\/problem\+json/),
    ]);
    expect(JSON.parse(sent.toString())).toMatchObject({ code: 'range_not_satisfiable', error: expect.any(String) });
  });

  it.each([
    ['link_invalid', 403],
    ['bundle_link_expired', 403],
    ['not_found', 404],
  ] as const)('responds to the link error %s with a problem document of status %i', async (code, status) => {
    follow = async () => {
      throw new DocshelfError(code, 'Cannot send it', { next: 'Ask again.' });
    };
    const answer = await send();
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.json()).toMatchObject({ code, status, error: 'Cannot send it', next: 'Ask again.' });
    expect((await send({}, 'HEAD')).status).toBe(status);
  });

  it('responds with 503 if the archive was just deleted', async () => {
    await rm(bundle.diskPath);
    expect((await send()).status).toBe(503);
  });

  it('closes the connection if the archive becomes shorter during the download', async () => {
    // Silence the console, because the framework's adapter prints errors of streams.
    const printed = vi.spyOn(console, 'error').mockReturnValue();
    await truncate(bundle.diskPath, 50_000_000);
    bundle = { ...bundle, sizeBytes: 50_000_000 };
    const answer = await send();
    const reading = answer.body?.getReader();
    await reading?.read();
    await truncate(bundle.diskPath, 1000);
    const rest = (async () => {
      while (!(await reading?.read())?.done);
    })();
    await expect(rest).rejects.toThrow();
    expect(faults).toEqual(['cannot_read']);
    expect(JSON.stringify(printed.mock.calls)).not.toContain('canary');
    printed.mockRestore();
  });

  it('reads no faster than the client, and stops when the client disconnects', async () => {
    const sizeBytes = 256 * 1024 ** 2;
    await truncate(bundle.diskPath, sizeBytes);
    bundle = { ...bundle, sizeBytes };
    const client = connect(listener.port, '127.0.0.1');
    client.write(`GET ${PATH} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await new Promise((resolve) => client.once('data', resolve));
    client.pause();
    const isOpen = () => openFiles().includes(bundle.diskPath);
    await expect.poll(isOpen).toBe(true);
    client.destroy();
    await expect.poll(isOpen).toBe(false);
    await expect.poll(() => served.length).toBe(1);
    expect(served[0]?.bytes).toBeLessThan(64 * 1024 ** 2);
    expect(faults).toEqual([]);
  });

  it('logs neither signature nor query', async () => {
    await bytesOf(await send());
    follow = async () => {
      throw new DocshelfError('link_invalid', 'Cannot send it');
    };
    expect(await (await send()).text()).not.toContain('canary');
    await expect.poll(() => logged.length).toBe(2);
    expect(logged.join()).toContain(NAME);
    expect(logged.join()).not.toMatch(/canary|signature|expires|keyId/);
  });
});
