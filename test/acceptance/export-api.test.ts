import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Job } from '../../src/domain/job.ts';
import { openBench } from '../helpers/daemon.ts';
import { adminKey, blockJobs, type Exporter, JOBS, KEYS, problemOf, SITE, startExporter } from './export-service.ts';

/** Requests, keys and responses of the built program. */

const bench = openBench(afterAll);
const UNKNOWN = 'se_0000000000000000';
const RFC_3339_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;
const JOB_KEYS = [
  ...['jobId', 'domain', 'version', 'status', 'progress', 'pageCount', 'createdAt', 'updatedAt', 'error'],
].sort();

let service: Exporter;
let done: Job;

beforeAll(async () => {
  service = await startExporter(bench);
  done = await service.export('acme', { version: 'v1' });
});

function expectJob(job: Job): void {
  expect(Object.keys(job).sort()).toEqual(JOB_KEYS);
  expect(job.jobId).toMatch(/^se_[0-9a-f]{16}$/);
  expect(['queued', 'running', 'completed', 'failed']).toContain(job.status);
  expect(job.progress).toBeGreaterThanOrEqual(0);
  expect(job.progress).toBeLessThanOrEqual(100);
  expect(Number.isInteger(job.pageCount)).toBe(true);
  for (const at of [job.createdAt, job.updatedAt]) expect(at).toMatch(RFC_3339_UTC);
  expect(Date.parse(job.updatedAt)).toBeGreaterThanOrEqual(Date.parse(job.createdAt));
  expect(typeof job.error === 'string').toBe(job.status === 'failed');
}

describe('the calls start, status and bundle', () => {
  test('return the fields that the contract lists', async () => {
    const response = await service.call('POST', JOBS, { body: { domain: 'Docs.Acme.dev', version: '2024-06-01' } });
    const started = (await response.json()) as Job;
    expect(response.status).toBe(202);
    expect(response.headers.get('content-type')).toMatch(/^application\/json\b/);
    expect(response.headers.get('location')).toBe(`${JOBS}/${started.jobId}`);
    expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(response.headers.get('x-request-id')).toEqual(expect.any(String));
    expectJob(started);
    expect(started).toMatchObject({ domain: 'acme', version: '2024-06-01', status: 'queued', progress: 0 });

    const seen: Job[] = [started];
    const ended = await service.until(started.jobId, (job) => {
      seen.push(job);
      return job.status === 'completed' || job.status === 'failed';
    });
    for (const job of seen) expectJob(job);
    const progress = seen.map((job) => job.progress);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect(ended).toMatchObject({ status: 'completed', progress: 100, pageCount: 2, error: null });

    const link = await service.bundle(started.jobId);
    expect(Object.keys(link).sort()).toEqual(['bundleUrl', 'expiresAt', 'jobId', 'sha256', 'sizeBytes']);
    expect(link).toMatchObject({ jobId: started.jobId, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(link.expiresAt).toMatch(RFC_3339_UTC);
    const { pathname } = new URL(link.bundleUrl);
    expect(pathname.split('/').at(-1)).toBe(`acme-export-${started.createdAt.slice(0, 10)}.tar.gz`);
    expect((await service.download(link.bundleUrl)).length).toBe(link.sizeBytes);
  });

  test('return null as the version if the start call contains no version', async () => {
    const job = await service.export();
    expect(job.version).toBeNull();
  });

  test('limit the export to the given paths, and report a path that does not exist', async () => {
    const job = await service.export('acme', { paths: ['/', '/nowhere'] });
    expect(job.pageCount).toBe(1);
    expect((await service.report(job.jobId)).findings).toContainEqual(
      expect.objectContaining({ kind: 'path_not_found', page: '/nowhere' }),
    );
  });

  test('show the progress of a running job', async () => {
    const { config, open } = await blockJobs(bench);
    const blocked = await startExporter(bench, config);
    const { jobId } = await blocked.start();
    const running = await blocked.until(jobId, ({ status, progress }) => status === 'running' && progress >= 40);
    expectJob(running);
    expect(running).toMatchObject({ pageCount: 2, error: null });
    expect(await (await fetch(`${blocked.daemon.admin}/v1/status`)).json()).toMatchObject({
      jobs: { queued: 0, running: 1 },
    });
    expect((await problemOf(await blocked.call('POST', `${JOBS}/${jobId}/bundle`))).code).toBe('not_completed');
    open();
    expect(await blocked.ended(jobId)).toMatchObject({ status: 'completed', progress: 100 });
  });

  test('accept a bundle call without a body or with an empty object', async () => {
    for (const body of ['', '{}']) {
      const response = await service.call('POST', `${JOBS}/${done.jobId}/bundle`, { body });
      expect([body, response.status]).toEqual([body, 200]);
    }
    const response = await service.call('POST', `${JOBS}/${done.jobId}/bundle`, { body: { format: 'zip' } });
    const problem = await problemOf(response);
    expect([problem.status, problem.error]).toEqual([400, expect.stringContaining('format')]);
  });
});

describe('the export API, invalid requests', () => {
  test.each<[name: string, body: unknown, field: string]>([
    ['no domain', {}, 'domain'],
    ['a domain of another type', { domain: 7 }, 'domain'],
    ['an unknown field', { domain: 'acme', formats: [] }, 'formats'],
    ['an invalid version', { domain: 'acme', version: '../v1' }, 'version'],
    ['a version that is too long', { domain: 'acme', version: 'v'.repeat(129) }, 'version'],
    ['paths that are not a list', { domain: 'acme', paths: '/' }, 'paths'],
    ['an empty list of paths', { domain: 'acme', paths: [] }, 'paths'],
    ['a path with ..', { domain: 'acme', paths: ['/', '/../etc/passwd'] }, 'paths[1]'],
    ['a path with a host', { domain: 'acme', paths: ['//evil.example/'] }, 'paths[0]'],
  ])('responds with 400 and the name of the invalid field: %s', async (_, body, field) => {
    const before = (await service.jobs()).jobs.length;
    const problem = await problemOf(await service.call('POST', JOBS, { body }));
    expect([problem.status, problem.code]).toEqual([400, 'bad_request']);
    expect(problem.error).toContain(`"${field}"`);
    expect((await service.jobs()).jobs).toHaveLength(before);
  });

  test.each<[name: string, status: number, code: string, body: string, headers: Record<string, string>]>([
    ['malformed JSON', 400, 'bad_request', '{"domain":', {}],
    ['no body', 400, 'bad_request', '', {}],
    ['a JSON list', 400, 'bad_request', '["acme"]', {}],
    ['a body over 64 KiB', 413, 'payload_too_large', JSON.stringify({ domain: 'a'.repeat(65_536) }), {}],
    [
      'a form body',
      415,
      'unsupported_media_type',
      'domain=acme',
      { 'content-type': 'application/x-www-form-urlencoded' },
    ],
    ['a text body', 415, 'unsupported_media_type', '{"domain":"acme"}', { 'content-type': 'text/plain' }],
  ])('responds to %s with %s', async (_, status, code, body, headers) => {
    const problem = await problemOf(await service.call('POST', JOBS, { body, headers }));
    expect([problem.status, problem.code]).toEqual([status, code]);
  });

  test.each<[name: string, status: number, code: string, method: string, path: string, body?: object]>([
    ['an unknown domain', 404, 'not_found', 'POST', '', { domain: 'nowhere' }],
    ['a domain of another organization', 404, 'not_found', 'POST', '', { domain: 'globex' }],
    ['a domain without a source', 409, 'no_source', 'POST', '', { domain: 'bare' }],
    ['an unknown job', 404, 'not_found', 'GET', `/${UNKNOWN}`],
    ['an invalid job ID', 404, 'not_found', 'GET', '/se_1'],
    ['the bundle of an unknown job', 404, 'not_found', 'POST', `/${UNKNOWN}/bundle`],
    ['the report of an unknown job', 404, 'not_found', 'GET', `/${UNKNOWN}/report`],
    ['cancelling an unknown job', 404, 'not_found', 'DELETE', `/${UNKNOWN}`],
    ['jobs of an unknown domain', 404, 'not_found', 'GET', '?domain=nowhere'],
    ['an unknown status', 400, 'bad_request', 'GET', '?status=done'],
    ['a limit out of bounds', 400, 'bad_request', 'GET', '?limit=0'],
    ['an invalid cursor', 400, 'bad_request', 'GET', '?cursor=abc'],
    ['a wrong method', 405, 'method_not_allowed', 'PUT', ''],
  ])('responds to %s with %s', async (_, status, code, method, path, body) => {
    const problem = await problemOf(await service.call(method, JOBS + path, body === undefined ? {} : { body }));
    expect([problem.status, problem.code]).toEqual([status, code]);
  });
});

describe('every call with every kind of key', () => {
  const CALLS: Readonly<Record<string, (jobId: string, domain: string) => readonly [string, string, object?]>> = {
    'POST /jobs': (_, domain) => ['POST', JOBS, { domain }],
    'GET /jobs?domain': (_, domain) => ['GET', `${JOBS}?domain=${domain}`],
    'GET /jobs/{jobId}': (jobId) => ['GET', `${JOBS}/${jobId}`],
    'GET /jobs/{jobId}/report': (jobId) => ['GET', `${JOBS}/${jobId}/report`],
    'POST /jobs/{jobId}/bundle': (jobId) => ['POST', `${JOBS}/${jobId}/bundle`],
    'DELETE /jobs/{jobId}': (jobId) => ['DELETE', `${JOBS}/${jobId}`],
  };
  const UNAUTHORIZED = [401, 'unauthorized'] as const;
  const FORBIDDEN = [403, 'forbidden'] as const;
  const HOLDERS: readonly [kind: string, authorization: string | null, refused: readonly [number, string] | null][] = [
    ['no key', null, UNAUTHORIZED],
    ['a malformed header', `Token ${KEYS.acme}`, UNAUTHORIZED],
    ['the key without Bearer', KEYS.acme, UNAUTHORIZED],
    ['an unknown key', 'Bearer svc_unknown', UNAUTHORIZED],
    ['the digest of a key', 'Bearer 6b3a55e0261b0304143f805a24924d0c1c44524821305f31d9277843b8a10f4e', UNAUTHORIZED],
    ['an assistant key', `Bearer ${KEYS.acmeAssistant}`, FORBIDDEN],
    ['an admin key of an organization whose plan excludes exports', `Bearer ${KEYS.team}`, FORBIDDEN],
    ["another organization's admin key", `Bearer ${KEYS.globex}`, [404, 'not_found']],
    ['an admin key of the organization', `Bearer ${KEYS.acme}`, null],
  ];

  test.each(HOLDERS)('is accepted or rejected as documented with %s', async (_, authorization, refused) => {
    const before = await service.jobs('?limit=100');
    for (const [name, callOf] of Object.entries(CALLS)) {
      const [method, path, body] = callOf(done.jobId, 'acme');
      const headers = authorization === null ? {} : { authorization };
      const response = await service.call(method, path, {
        key: null,
        headers,
        ...(body === undefined ? {} : { body }),
      });
      if (refused === null) {
        expect([name, response.ok]).toEqual([name, true]);
        continue;
      }
      const { status, code } = await problemOf(response);
      expect([name, status, code]).toEqual([name, ...refused]);
      expect(response.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
    }
    if (refused !== null) expect(await service.jobs('?limit=100')).toEqual(before);
  });

  test('responds to a job or domain of another organization as if it did not exist', async () => {
    const globex = service.as(KEYS.globex);
    const textOf = async (call: keyof typeof CALLS, jobId: string, domain: string): Promise<string> => {
      const [method, path, body] = CALLS[call]?.(jobId, domain) ?? ['', ''];
      const { requestId: _, ...problem } = await problemOf(await globex.call(method, path, { body }));
      return JSON.stringify(problem).replaceAll(jobId, 'JOB').replaceAll(domain, 'DOMAIN');
    };
    for (const call of Object.keys(CALLS)) {
      expect(await textOf(call, done.jobId, 'docs.acme.dev')).toBe(await textOf(call, UNKNOWN, 'docs.nowhere.dev'));
    }
    expect((await globex.jobs()).jobs.filter(({ domain }) => domain !== 'globex')).toEqual([]);
  });

  test('causes no log line that contains the key', () => {
    for (const key of Object.values(KEYS)) expect(service.daemon.log()).not.toContain(key);
  });
});

describe('an export job', () => {
  test('ends if it is canceled, whether it is queued or running, and stays canceled', async () => {
    const { config } = await blockJobs(bench);
    const blocked = await startExporter(bench, config);
    const running = await blocked.start();
    const queued = await blocked.start('acme', { version: 'v2' });
    await blocked.until(running.jobId, ({ status }) => status === 'running');
    expect(await blocked.cancel(queued.jobId)).toMatchObject({ status: 'failed', error: 'canceled' });
    expect(['running', 'failed']).toContain((await blocked.cancel(running.jobId)).status);
    expect(await blocked.ended(running.jobId)).toMatchObject({ status: 'failed', error: 'canceled' });
    expect(await blocked.cancel(running.jobId)).toMatchObject({ status: 'failed', error: 'canceled' });
    expect((await problemOf(await blocked.call('POST', `${JOBS}/${running.jobId}/bundle`))).code).toBe('not_completed');
    expect(await blocked.report(queued.jobId)).toMatchObject({ pages: 0, findings: [] });
    // The domain can start another job.
    const { jobId } = await blocked.start();
    await blocked.until(jobId, ({ status }) => status === 'running');
  });

  test('does not change if a client cancels the job after its completion', async () => {
    expect(await service.cancel(done.jobId)).toEqual(await service.job(done.jobId));
    expect((await service.job(done.jobId)).status).toBe('completed');
  });

  test('waits for a running job of the same domain, but not for a running job of another domain', async () => {
    const { config } = await blockJobs(bench);
    const blocked = await startExporter(bench, { ...config, exportApi: { concurrency: 4 } });
    const [first, second] = [await blocked.start(), await blocked.start('acme', { version: 'v2' })];
    const other = await blocked.as(KEYS.globex).start('globex');
    await blocked.until(first.jobId, ({ status }) => status === 'running');
    await blocked.as(KEYS.globex).until(other.jobId, ({ status }) => status === 'running');
    expect((await blocked.job(second.jobId)).status).toBe('queued');
    expect((await blocked.daemon.status()).jobs).toEqual({ queued: 1, running: 2 });
  });

  test.each<[name: string, source: object, site: Record<string, string>, error: RegExp]>([
    ['a missing folder', { kind: 'folder', path: './gone' }, {}, /^Cannot .*gone": it does not exist/],
    ['a missing Markdown folder', { kind: 'markdown', path: './gone' }, {}, /^Cannot .*gone": it does not exist/],
    ['a folder without pages', { kind: 'folder', path: './site' }, { 'a.txt': 'a' }, /^Cannot .*no HTML page/],
    ['a Markdown folder without pages', { kind: 'markdown', path: './site' }, { 'a.txt': 'a' }, /^Cannot .*\bno\b/],
    [
      'a file that is not an archive',
      { kind: 'folder', path: './site/a.zip' },
      { 'a.zip': 'PK no' },
      /^Cannot .*a\.zip/,
    ],
  ])('fails with the cause and the next step if its source is %s', async (_, source, site, error) => {
    const organization = {
      id: 'acme-inc',
      plan: 'enterprise',
      domains: { acme: { source } },
      keys: [adminKey('ci', KEYS.acme)],
    };
    const failing = await startExporter(bench, { organizations: [organization] }, { site });
    const job = await failing.ended((await failing.start()).jobId);
    expectJob(job);
    expect(job).toMatchObject({ status: 'failed', error: expect.stringMatching(error) });
    expect(job.error?.length).toBeLessThan(400);
    expect((await problemOf(await failing.call('POST', `${JOBS}/${job.jobId}/bundle`))).status).toBe(409);
    expect(await failing.report(job.jobId)).toMatchObject({ jobId: job.jobId, pages: 0, files: 0 });
    await failing.daemon.kill();
  });

  test('fails after its deadline, and names the deadline', async () => {
    const { config } = await blockJobs(bench);
    const blocked = await startExporter(bench, { ...config, exportApi: { deadline: '1s' } });
    const job = await blocked.ended((await blocked.start()).jobId);
    expect(job).toMatchObject({ status: 'failed', error: expect.stringMatching(/longer than 1 s\b.*deadline/) });
  });
});

describe('GET /jobs/{jobId}/report', () => {
  test('lists exported pages, skipped pages and errors after which the job continues', async () => {
    const site = {
      ...SITE,
      'broken.html':
        '<!doctype html><title>B</title><a href="/gone.html">x</a><a href="index.html#none">y</a><script src="https://cdn.example/x.js"></script>',
      '.git/config': '[core]',
    };
    const other = await startExporter(bench, {}, { site });
    const { jobId } = await other.export();
    const report = await other.report(jobId);
    expect(report).toMatchObject({ jobId, pages: 3, files: Object.keys(SITE).length + 1 });
    expect(report.bytes).toBeGreaterThan(100);
    expect(
      report.findings
        .filter(({ page }) => page === 'broken.html')
        .map(({ kind }) => kind)
        .sort(),
    ).toEqual(['broken_reference', 'missing_fragment', 'off_origin_load']);
    expect(report.findings).toContainEqual(expect.objectContaining({ page: expect.stringContaining('.git') }));
    const total = Object.values(report.counts).reduce((sum, count) => sum + count, 0);
    expect(total).toBe(report.findings.length);
  });
});

describe('the job queue of an organization', () => {
  test('is listed newest first, page by page or filtered by domain and status, while new jobs arrive', async () => {
    const { config } = await blockJobs(bench);
    const blocked = await startExporter(bench, config);
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.unshift((await blocked.start('acme', { version: `v${n}` })).jobId);
    await blocked.cancel(ids[0] ?? '');
    const first = await blocked.jobs('?limit=2');
    await blocked.start();
    const second = await blocked.jobs(`?limit=2&cursor=${first.nextCursor}`);
    const third = await blocked.jobs(`?limit=2&cursor=${second.nextCursor}`);
    const listed = [first, second, third].flatMap(({ jobs }) => jobs.map(({ jobId }) => jobId));
    expect(listed).toEqual(ids);
    expect(third.nextCursor).toBeNull();
    for (const job of first.jobs) expectJob(job);
    expect((await blocked.jobs('?status=failed&domain=docs.acme.dev')).jobs.map(({ jobId }) => jobId)).toEqual([
      ids[0],
    ]);
    expect((await blocked.jobs('?domain=bare')).jobs).toEqual([]);
  });

  test('responds with 429 and Retry-After if it is full, and does not affect other organizations', async () => {
    const { config } = await blockJobs(bench);
    const blocked = await startExporter(bench, { ...config, exportApi: { queuedMax: 2 } });
    const { jobId } = await blocked.start();
    await blocked.until(jobId, ({ status }) => status === 'running');
    const waiting = await blocked.start();
    expect((await blocked.start()).jobId).toBe(waiting.jobId);
    await blocked.start('acme', { version: 'v2' });
    const response = await blocked.call('POST', JOBS, { body: { domain: 'acme', version: 'v3' } });
    expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(await problemOf(response)).toMatchObject({ status: 429, code: 'queue_full' });
    expect((await blocked.as(KEYS.globex).start('globex')).status).toBe('queued');
    expect((await blocked.jobs()).jobs).toHaveLength(3);
  });
});

test('the exports folder contains the documented entries, and its work folder is empty', async () => {
  const names = await readdir(join(service.daemon.dataDir, 'exports'));
  expect(names).toEqual(expect.arrayContaining(['bundles', 'files', 'jobs.sqlite', 'manifests', 'work']));
  expect(await readdir(join(service.daemon.dataDir, 'exports/work'))).toEqual([]);
});
