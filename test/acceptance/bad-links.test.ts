import { readdir } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rawTar } from '../helpers/archives.ts';
import { type DaemonProcess, type LastError, openBench } from '../helpers/daemon.ts';
import { httpServer } from '../helpers/local-server.ts';
import { bundle, sha256Of } from './bundles.ts';

const bench = openBench(afterAll);
const GOOD = bundle('good');
const NEXT = bundle('next');

const s3 = (code: string, message: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message><RequestId>A1</RequestId></Error>`;

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
const withStatus =
  (status: number, body: string, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': 'application/xml', ...headers }).end(body);

const ANSWERS: Readonly<Record<string, Answer>> = {
  '/good-2024-06-01.tar.gz': (_request, response) => void response.end(GOOD),
  '/next-2024-07-01.tar.gz': (_request, response) => void response.end(NEXT),
  '/expired': withStatus(403, s3('AccessDenied', 'Request has expired')),
  '/html': withStatus(200, '<!doctype html><title>Sign in</title>', { 'content-type': 'text/html' }),
  '/evil.tar': (_request, response) => void response.end(rawTar([{ name: '../evil.html', body: 'a' }])),
  '/truncated': (_request, response) => {
    response.writeHead(200, { 'content-length': GOOD.length });
    response.write(GOOD.subarray(0, 64), () => response.destroy());
  },
};

let daemon: DaemonProcess;
let base = '';

beforeAll(async () => {
  const server = await httpServer((request, response) => {
    ANSWERS[(request.url ?? '').split('?')[0] ?? '']?.(request, response);
  });
  base = server.origin;
  daemon = await bench.start({
    staticExport: { bundleUrl: `${base}/good-2024-06-01.tar.gz` },
    network: { retries: 0 },
  });
  await daemon.untilServing('2024-06-01');
});

/** Sets the link and waits for that error. */
async function failWith(code: string, bundleUrl: string): Promise<LastError> {
  const before = await daemon.status();
  await daemon.rewriteConfig({ staticExport: { bundleUrl } });
  return daemon.untilError(code, before);
}

async function expectGoodServed(): Promise<void> {
  expect(await daemon.status()).toMatchObject({ state: 'stale', active: { digest: sha256Of(GOOD) } });
  expect(await (await fetch(`${daemon.site}/`)).text()).toContain('good');
  expect((await fetch(`${daemon.admin}/readyz`)).status).toBe(200);
}

describe('a bundle link that provides no valid bundle', () => {
  test.each([
    ['an expired S3 link', '/expired', 'link_expired', /new link/],
    ['an HTML page', '/html', 'unknown_format', /link|archive|bundle/],
    ['an archive with a path outside of the site', '/evil.tar', 'name_dotdot', /./],
    ['a response that is cut off', '/truncated', 'source_truncated', /again/],
    ['a host that does not respond', 'http://127.0.0.1:1/docs.tar.gz', 'source_unreachable', /./],
  ])('is reported and does not affect the served version: %s', async (_what, path, code, next) => {
    const error = await failWith(code, new URL(path, base).href);
    expect(error.message).toMatch(/^Cannot /);
    expect(error.next).toMatch(next);
    await expectGoodServed();
    expect(await readdir(join(daemon.dataDir, 'staging'))).toEqual([]);
  });

  test('does not prevent docshelf from serving the bundle of a valid link later', async () => {
    await daemon.rewriteConfig({
      staticExport: { bundleUrl: `${base}/next-2024-07-01.tar.gz`, sha256: sha256Of(NEXT) },
    });
    await daemon.untilRecovered('2024-07-01');
    expect(await (await fetch(`${daemon.site}/`)).text()).toContain('next');
    const metrics = await (await fetch(`${daemon.admin}/metrics`)).text();
    expect(metrics).toMatch(/docshelf_errors_total\{code="link_expired"\} 1/);
    expect(metrics).toMatch(/docshelf_fetches_total\{result="failed"\} \d/);
  });
});

test('a daemon with an expired bundle link at its first start reports the error to operators, and shows readers an error page', async () => {
  const waiting = await bench.start({ staticExport: { bundleUrl: `${base}/expired` }, network: { retries: 0 } });
  expect(await waiting.untilError('link_expired')).toMatchObject({ next: expect.stringContaining('new link') });
  const page = await fetch(`${waiting.site}/`);
  expect(page.status).toBe(503);
  const text = await page.text();
  expect(text).toContain('could not be loaded');
  expect(text).not.toContain('link');
});
