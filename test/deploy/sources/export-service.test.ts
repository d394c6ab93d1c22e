import { afterEach, describe, expect, test } from 'vitest';
import { ExportServiceClient, exportLinks } from '../../../src/deploy/sources/export-service.ts';
import { DocshelfError } from '../../../src/domain/errors.ts';
import { Secret } from '../../../src/domain/secret.ts';
import type { HttpClient } from '../../../src/net/http-client.ts';
import { answer, VENDOR_KEY, type VendorOptions, VendorService } from '../../helpers/export-service.ts';
import { httpServer } from '../../helpers/local-server.ts';
import { httpClientOf } from '../../net/http-client-of.ts';

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

const BUNDLE = Buffer.from('a bundle');
const signal = new AbortController().signal;
const ACME = { domain: 'acme', version: null, paths: null };

interface Setup {
  readonly vendor: VendorService;
  readonly service: ExportServiceClient;
  /** Pauses of the client in milliseconds. */
  readonly pauses: number[];
}

async function setUp(options: Partial<VendorOptions> = {}, client: HttpClient = httpClientOf()): Promise<Setup> {
  const vendor = await VendorService.start({ bundle: () => BUNDLE, ...options });
  const { service, pauses } = clientOf(vendor.url, client);
  endings.push(() => vendor.close());
  return { vendor, service, pauses };
}

/** A client whose clock advances only during its pauses, which do not wait. */
function clientOf(apiUrl: string, client: HttpClient = httpClientOf(), key = VENDOR_KEY) {
  const pauses: number[] = [];
  let nowMs = 0;
  const sleep = async (ms: number): Promise<void> => {
    pauses.push(ms);
    nowMs += ms;
  };
  const tools = { sleep, random: () => 1, steadyNow: () => nowMs };
  endings.push(() => client.close());
  return { service: new ExportServiceClient(client, { apiUrl, key: new Secret(key) }, tools), pauses };
}

async function errorOf(promise: Promise<unknown>): Promise<DocshelfError> {
  const error = await promise.then(
    () => new Error('it resolved'),
    (thrown: unknown) => thrown,
  );
  if (error instanceof DocshelfError) return error;
  throw error;
}

describe.each([false, true])('ExportServiceClient of a service that returns digests and Retry-After (%s)', (extras) => {
  test('start() sends only the given values', async () => {
    const { vendor, service } = await setUp({ extras });
    expect(await service.start({ domain: 'acme', version: 'v3', paths: ['/a', '/b'] }, signal)).toEqual({
      jobId: 'se_0000000000000001',
      domain: 'acme',
      version: 'v3',
      status: 'queued',
      progress: 0,
      pageCount: 0,
      createdAt: '2024-06-01T00:00:00.000Z',
      updatedAt: '2024-06-01T00:00:00.000Z',
      error: null,
    });
    await service.start(ACME, signal);
    expect(vendor.bodies).toEqual([{ domain: 'acme', version: 'v3', paths: ['/a', '/b'] }, { domain: 'acme' }]);
    expect(vendor.requests[0]?.headers['content-type']).toBe('application/json');
  });

  test('wait() polls every 2 s or as Retry-After requires, with a random extra delay of up to a quarter of the interval', async () => {
    const { service, pauses } = await setUp({ extras, polls: 3 });
    const { jobId } = await service.start(ACME, signal);
    const seen: string[] = [];
    const job = await service.wait(jobId, { timeoutMs: 60_000, signal, onJob: ({ status }) => seen.push(status) });
    expect(job).toMatchObject({ jobId, status: 'completed', progress: 100, pageCount: 3 });
    expect(seen).toEqual(['running', 'running', 'completed']);
    expect(pauses).toEqual(extras ? [1250, 1250] : [2500, 2500]);
  });

  test('bundle() returns a new link each time', async () => {
    const { vendor, service } = await setUp({ extras });
    const jobId = vendor.completed();
    const first = await service.bundle(jobId, signal);
    const second = await service.bundle(jobId, signal);
    expect(first).toMatchObject({ jobId, sizeBytes: BUNDLE.length, signature: null });
    expect(first.sha256 === null).toBe(!extras);
    expect(first.bundleUrl.equals(second.bundleUrl)).toBe(false);
    expect(JSON.stringify(first)).not.toContain('canary');
    expect(vendor.requests.at(-1)?.headers['content-type']).toBeUndefined();
  });
});

describe('ExportServiceClient.wait()', () => {
  test('throws the error of a failed job', async () => {
    const { vendor, service } = await setUp({ failure: 'The folder is not there.' });
    const error = await errorOf(service.wait(vendor.completed(), { timeoutMs: 1000, signal }));
    expect(error.code).toBe('job_failed');
    expect(error.message).toContain('The folder is not there');
  });

  test('sends a last request at its timeout, and then throws job_timeout', async () => {
    const { vendor, service, pauses } = await setUp({ polls: 1000 });
    const { jobId } = await service.start(ACME, signal);
    expect((await errorOf(service.wait(jobId, { timeoutMs: 6000, signal }))).code).toBe('job_timeout');
    expect(pauses).toEqual([2500, 2500, 1000]);
    expect(vendor.count(/^GET .*\/jobs\/se_/)).toBe(4);
  });

  test('continues after a few failed requests, but throws if the service remains unavailable', async () => {
    const { vendor, service, pauses } = await setUp();
    const { jobId } = await service.start(ACME, signal);
    vendor.fault(/^GET .*\/jobs\/se_/, (_, response) => answer(response, 503, {}, { 'Retry-After': '7' }), 3);
    expect(await service.wait(jobId, { timeoutMs: 600_000, signal })).toMatchObject({ status: 'completed' });
    expect(pauses.slice(0, 3)).toEqual([8750, 8750, 8750]);
    vendor.fault(/^GET/, (_, response) => response.socket?.destroy(), 1000);
    const error = await errorOf(service.wait(jobId, { timeoutMs: 3_600_000, signal }));
    expect(error.code).toBe('source_unreachable');
    expect(vendor.count(/^GET/)).toBeLessThan(100);
  });

  test.each([
    ['0', 625],
    ['86400', 75_000],
    ['never', 2500],
  ])('polls at the minimum, maximum or default interval if Retry-After is %s', async (retryAfter, pauseMs) => {
    const { vendor, service, pauses } = await setUp();
    const { jobId } = await service.start(ACME, signal);
    const body = { jobId, status: 'running' };
    vendor.fault(/^GET/, (_, response) => answer(response, 200, body, { 'Retry-After': retryAfter }));
    await service.wait(jobId, { timeoutMs: 600_000, signal });
    expect(pauses[0]).toBe(pauseMs);
  });

  test('stops at once if its signal is aborted', async () => {
    const { vendor, service } = await setUp({ polls: 1000 });
    const { jobId } = await service.start(ACME, signal);
    const abort = new AbortController();
    const reason = new DocshelfError('stopping', 'enough');
    const waiting = service.wait(jobId, { timeoutMs: 1e9, signal: abort.signal, onJob: () => abort.abort(reason) });
    expect(await errorOf(waiting)).toBe(reason);
    expect(vendor.count(/^GET/)).toBe(1);
  });
});

describe('an error response of the export service', () => {
  test.each<[status: number, body: string, code: string, said: string]>([
    [
      400,
      '{"type":"about:blank","detail":"paths[0] is no path","error":"paths[0] is no path"}',
      'bad_request',
      'paths[0]',
    ],
    [401, '{"error":"unknown key"}', 'unauthorized', 'unknown key'],
    [403, '{"error":{"message":"not on this plan"}}', 'forbidden', 'not on this plan'],
    [404, '{"message":"no such domain"}', 'not_found', 'no such domain'],
    [409, '{"error":"it is running"}', 'not_completed', 'it is running'],
    [409, '{"error":"nothing to export","code":"no_source"}', 'no_source', 'nothing to export'],
    [415, 'plain words', 'bad_request', 'plain words'],
    [418, '<html>a page</html>', 'export_service_failed', 'responds with 418'],
    [200, '<html>Sign in</html>', 'export_service_failed', 'not from an export service'],
    [200, '{"jobId":"se_1","status":"exploded"}', 'export_service_failed', 'not from an export service'],
    [
      401,
      `{"error":"${VENDOR_KEY} is unknown, see https://x.test/?token=0123456789\\u001b[2J"}`,
      'unauthorized',
      '[redacted]',
    ],
  ])('is reported with its cause: status %i, body %s', async (status, body, code, expected) => {
    const { vendor, service } = await setUp();
    vendor.fault(/./, (_, response) => response.writeHead(status).end(body));
    const error = await errorOf(service.status('se_1', signal));
    expect(error.code).toBe(code);
    expect(error.message).toContain(expected);
    expect(error.message).not.toMatch(/canary|0123456789|\u001b/);
  });

  test('causes a retry of start() only if the service has certainly accepted no job', async () => {
    const { vendor, service, pauses } = await setUp();
    vendor.fault(/^POST/, (_, response) => answer(response, 429, { code: 'queue_full' }, { 'Retry-After': '9' }));
    await service.start(ACME, signal);
    expect(pauses).toEqual([9000]);
    for (const fault of [500, 502]) {
      vendor.fault(/^POST/, (_, response) => answer(response, fault, {}));
      expect((await errorOf(service.start(ACME, signal))).code).toBe('export_service_failed');
    }
    vendor.fault(/^POST/, (_, response) => response.socket?.destroy());
    expect((await errorOf(service.start(ACME, signal))).code).toBe('source_unreachable');
    expect(vendor.jobs).toHaveLength(1);
  });

  test('causes up to three retries if it is temporary, and is then thrown', async () => {
    const { vendor, service, pauses } = await setUp();
    const jobId = vendor.completed();
    vendor.fault(/bundle$/, (_, response) => answer(response, 500, { error: 'out of order' }), 3);
    expect((await service.bundle(jobId, signal)).jobId).toBe(jobId);
    expect(pauses).toEqual([500, 1000, 2000]);
    vendor.fault(/bundle$/, (_, response) => answer(response, 500, { error: 'out of order' }), 4);
    expect(await errorOf(service.bundle(jobId, signal))).toMatchObject({
      code: 'export_service_failed',
      fields: { status: 500, retryable: true },
    });
  });
});

describe('the API key of the export service', () => {
  test('is not sent to the target of a redirect, not even on the same host', async () => {
    const other = await httpServer((_, response) => response.writeHead(200).end('{}'));
    endings.push(() => other.close());
    const { vendor, service } = await setUp();
    for (const location of [`${other.origin}/jobs`, '/elsewhere']) {
      vendor.fault(/./, (_, response) => response.writeHead(307, { location }).end(), 2);
      expect((await errorOf(service.start(ACME, signal))).code).toBe('export_service_failed');
      expect((await errorOf(service.status('se_1', signal))).code).toBe('export_service_failed');
    }
    expect(other.requests).toHaveLength(0);
    expect(vendor.calls).toHaveLength(4);
  });

  test('is not sent to a host that the network rules forbid', async () => {
    const { vendor, service } = await setUp({}, httpClientOf({ allowedHosts: ['api.example.com'] }));
    expect((await errorOf(service.start(ACME, signal))).code).toBe('host_not_allowed');
    expect(vendor.calls).toEqual([]);
  });
});

describe('a response of the export service', () => {
  test('causes a temporary error if it is truncated or does not arrive', async () => {
    const { vendor, service } = await setUp({}, httpClientOf({ idleTimeoutMs: 200 }));
    vendor.fault(
      /./,
      (_, response) => {
        response.writeHead(200, { 'content-length': 100 }).write('{"jobId"');
        setTimeout(() => response.socket?.destroy(), 20);
      },
      4,
    );
    expect((await errorOf(service.status('se_1', signal))).code).toBe('source_truncated');
    vendor.fault(/./, () => undefined, 4);
    expect((await errorOf(service.status('se_1', signal))).code).toBe('source_timeout');
  });

  test('is rejected if it contains a file: link', async () => {
    const { vendor, service } = await setUp();
    const body = { jobId: 'se_1', bundleUrl: 'file:///etc/passwd' };
    vendor.fault(/./, (_, response) => answer(response, 200, body));
    expect((await errorOf(service.bundle('se_1', signal))).code).toBe('export_service_failed');
  });

  test('is accepted with only the required fields', async () => {
    const { vendor, service } = await setUp();
    vendor.fault(/./, (_, response) => answer(response, 200, { jobId: '42', status: 'running' }));
    expect(await service.status('42', signal)).toMatchObject({
      jobId: '42',
      status: 'running',
      progress: null,
      error: null,
    });
    vendor.fault(/./, (_, response) => answer(response, 200, { bundleUrl: 'https://x.test/b?s=1' }));
    expect(await service.bundle('42', signal)).toMatchObject({ jobId: '42', sizeBytes: null, sha256: null });
  });
});

describe('exportLinks() (bundle links from the export service)', () => {
  const linksOf = (service: ExportServiceClient, settings: { domain?: string; jobId?: string } = { domain: 'acme' }) =>
    exportLinks(service, { domain: settings.domain ?? null, jobId: settings.jobId ?? null });

  test('freshLink() returns the link of the given job, or of the newest export with the given version label', async () => {
    const { vendor, service } = await setUp({ extras: true });
    const [first, second, third] = [vendor.completed('v1'), vendor.completed('v2'), vendor.completed(null)];
    vendor.completed('v2', 'another');
    await service.start({ ...ACME, version: 'v2' }, signal);
    expect((await linksOf(service).freshLink(null, signal))?.jobId).toBe(third);
    expect((await linksOf(service).freshLink('v2', signal))?.jobId).toBe(second);
    expect(await linksOf(service).freshLink('v9', signal)).toBeNull();
    expect((await linksOf(service, { jobId: first }).freshLink('v2', signal))?.jobId).toBe(first);
  });

  test('freshLink() returns null if the service cannot list jobs', async () => {
    const { vendor, service } = await setUp({ extras: false });
    vendor.completed();
    expect(await linksOf(service).freshLink(null, signal)).toBeNull();
  });

  test('startExport() sends the version label, and linkWhenDone() returns the link after completion', async () => {
    const { vendor, service } = await setUp();
    const links = linksOf(service);
    const jobId = await links.startExport('v7', signal);
    expect(vendor.bodies).toEqual([{ domain: 'acme', version: 'v7' }]);
    expect(await links.linkWhenDone(jobId, signal)).toMatchObject({ jobId, sha256: null });
  });
});
