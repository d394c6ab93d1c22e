import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type DownloadOptions, downloadBundle, placeBundle, targetOf } from '../../../src/cli/export/pull.ts';
import { httpBundleSource } from '../../../src/deploy/sources/http-bundle-source.ts';
import type { BundleAnswer } from '../../../src/domain/job.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { breakOffOnceStored, bundleAnswer, httpServer, type LocalServer } from '../../helpers/local-server.ts';
import { newFolder } from '../../helpers/new-folder.ts';
import { httpClientOf } from '../../net/http-client-of.ts';

const BYTES = createHash('shake256', { outputLength: 3_000_000 }).update('bundle').digest();
const DIGEST = createHash('sha256').update(BYTES).digest('hex');

let folder: string;
let server: LocalServer;
/** Response to the next request for the bundle, instead of the bundle. */
let fault: Parameters<typeof httpServer>[0] | null = null;
const client = httpClientOf();
beforeEach(async () => {
  folder = newFolder();
  server = await httpServer((request, response) => {
    const answer = fault ?? bundleAnswer(BYTES, '"one"');
    fault = null;
    return answer(request, response);
  });
});
afterEach(() => server.close());

const answerOf = (more: Partial<BundleAnswer> = {}): BundleAnswer => ({
  jobId: 'se_1',
  bundleUrl: new Secret(`${server.origin}/acme-export-2024-06-01.tar.gz?signature=canary`),
  sizeBytes: BYTES.length,
  expiresAt: null,
  sha256: DIGEST,
  signature: null,
  ...more,
});

function download(more: Partial<DownloadOptions> = {}) {
  const options: DownloadOptions = {
    sources: [httpBundleSource(client)],
    link: async () => answerOf(),
    bundleBytesMax: 10_000_000,
    retriesMax: 2,
    signal: new AbortController().signal,
    onProgress: () => undefined,
    ...more,
  };
  return downloadBundle(folder, options, async (file, downloaded) => {
    await placeBundle(file, join(folder, 'bundle.tar.gz'));
    return downloaded;
  });
}

const halfOf: Parameters<typeof httpServer>[0] = (_, response) => {
  response.writeHead(200, { 'content-length': BYTES.length, etag: '"one"' });
  response.write(BYTES.subarray(0, 1_500_000));
  return breakOffOnceStored(response, 1_500_000, folder);
};

test('an interrupted download resumes, and writes its target file only when it is complete', async () => {
  fault = halfOf;
  const { digest, sizeBytes, fileName } = await download();
  expect({ digest, sizeBytes, fileName }).toEqual({
    digest: DIGEST,
    sizeBytes: BYTES.length,
    fileName: 'acme-export-2024-06-01.tar.gz',
  });
  expect(server.requests.map(({ headers }) => headers.range !== undefined)).toEqual([false, true]);
  expect(await readdir(folder)).toEqual(['bundle.tar.gz']);
  expect((await readFile(join(folder, 'bundle.tar.gz'))).equals(BYTES)).toBe(true);
});

test('a download requests a new link if its link has expired', async () => {
  let links = 0;
  const link = async (): Promise<BundleAnswer> => {
    links += 1;
    return answerOf();
  };
  fault = (_, response) => response.writeHead(403).end('<Code>AccessDenied</Code>Request has expired');
  expect((await download({ link })).digest).toBe(DIGEST);
  expect(links).toBe(2);
});

test.each<[name: string, code: string, more: () => Partial<DownloadOptions>]>([
  ['a wrong digest', 'wrong_digest', () => ({ link: async () => answerOf({ sha256: 'a'.repeat(64) }) })],
  [
    'a wrong size and no digest from the service',
    'source_truncated',
    () => ({ link: async () => answerOf({ sha256: null, sizeBytes: 5 }) }),
  ],
  ['more bytes than the limit', 'source_too_large', () => ({ bundleBytesMax: 1_000_000 })],
  ['a link of an unsupported scheme', 'source_failed', () => ({ sources: [] })],
])('a download with %s is rejected, and leaves no file', async (_, code, more) => {
  await expect(download(more())).rejects.toMatchObject({ code });
  expect(await readdir(folder)).toEqual([]);
});

test('an aborted download leaves no file', async () => {
  const abort = new AbortController();
  const running = download({ signal: abort.signal, onProgress: () => abort.abort(new Error('enough')) });
  await expect(running).rejects.toThrow('enough');
  expect(await readdir(folder)).toEqual([]);
});

test('targetOf() (target path of a download) resolves a symbolic link, and rejects a path that is neither a file nor a folder', async () => {
  const at = (name: string): string => join(folder, name);
  const target = (output: string) => targetOf({ output, timeout: 1_000 });
  await mkdir(at('deep'));
  await writeFile(at('deep/real.tar.gz'), '');
  await symlink('deep/real.tar.gz', at('link.tar.gz'));
  execFileSync('mkfifo', [at('pipe')]);
  expect(await target(at('link.tar.gz'))).toMatchObject({ folder: at('deep'), name: 'real.tar.gz' });
  expect(await target(at('new.tar.gz'))).toMatchObject({ folder, name: 'new.tar.gz' });
  expect(await target(at('deep'))).toMatchObject({ folder: at('deep'), name: null });
  for (const output of [at('pipe'), '/dev/null'])
    await expect(target(output)).rejects.toMatchObject({ code: 'cannot_write' });
});
