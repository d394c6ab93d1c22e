import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Job } from '../../src/domain/job.ts';
import { openBench } from '../helpers/daemon.ts';
import { adminKey, blockJobs, type Exporter, JOBS, KEYS, problemOf, SITE, startExporter } from './export-service.ts';

/** Requests, keys and responses of the built program. */

const bench = openBench(afterAll);
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

describe('the export API calls start, status and bundle', () => {
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

  test('limit the export to the given paths, and report a path that does not exist', async () => {
    const job = await service.export('acme', { paths: ['/', '/nowhere'] });
    expect(job.pageCount).toBe(1);
    expect((await service.report(job.jobId)).findings).toContainEqual(
      expect.objectContaining({ kind: 'path_not_found', page: '/nowhere' }),
    );
  });
});

test.each<[kind: string, key: string | null, status: number, code: string]>([
  ['no key', null, 401, 'unauthorized'],
  ['an unknown key', 'svc_unknown', 401, 'unauthorized'],
  ['an assistant key', KEYS.acmeAssistant, 403, 'forbidden'],
  ['an admin key of an organization whose plan excludes exports', KEYS.team, 403, 'forbidden'],
  ["another organization's admin key", KEYS.globex, 404, 'not_found'],
])('the export API rejects every call without a suitable key, and logs no key: %s', async (_, key, status, code) => {
  const before = await service.jobs('?limit=100');
  for (const [method, path, body] of [
    ['POST', JOBS, { domain: 'acme' }],
    ['GET', `${JOBS}/${done.jobId}`],
    ['GET', `${JOBS}/${done.jobId}/report`],
    ['POST', `${JOBS}/${done.jobId}/bundle`],
    ['DELETE', `${JOBS}/${done.jobId}`],
  ] as const) {
    const problem = await problemOf(await service.call(method, path, { key, body }));
    expect([method, path, problem.status, problem.code]).toEqual([method, path, status, code]);
  }
  expect(await service.jobs('?limit=100')).toEqual(before);
  for (const key of Object.values(KEYS)) expect(service.daemon.log()).not.toContain(key);
});

describe('the jobs of a busy export service', () => {
  let blocked: Exporter;
  let open: () => void;
  /** Ids of the jobs of `acme`, newest first. The oldest one runs, and the other two are queued. */
  let ids: string[];

  beforeAll(async () => {
    const held = await blockJobs(bench);
    open = held.open;
    blocked = await startExporter(bench, { ...held.config, exportApi: { concurrency: 4, queuedMax: 2 } });
    ids = [(await blocked.start()).jobId];
    await blocked.until(ids[0] ?? '', ({ status, progress }) => status === 'running' && progress >= 40);
    for (const version of ['v2', 'v3']) ids.unshift((await blocked.start('acme', { version })).jobId);
  });

  test('run at the same time only if they are of different domains, and show their progress', async () => {
    const globex = blocked.as(KEYS.globex);
    await globex.until((await globex.start('globex')).jobId, ({ status }) => status === 'running');
    const [third = '', second = '', first = ''] = ids;
    const running = await blocked.job(first);
    expectJob(running);
    expect(running).toMatchObject({ status: 'running', pageCount: 2, error: null });
    expect([(await blocked.job(second)).status, (await blocked.job(third)).status]).toEqual(['queued', 'queued']);
    expect((await blocked.daemon.status()).jobs).toEqual({ queued: 2, running: 2 });
    expect((await problemOf(await blocked.call('POST', `${JOBS}/${first}/bundle`))).code).toBe('not_completed');
  });

  test('are limited for each organization by responses with 429 and Retry-After', async () => {
    expect((await blocked.start('acme', { version: 'v3' })).jobId).toBe(ids[0]);
    const response = await blocked.call('POST', JOBS, { body: { domain: 'acme', version: 'v4' } });
    expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(await problemOf(response)).toMatchObject({ status: 429, code: 'queue_full' });
    expect((await blocked.as(KEYS.globex).start('globex', { version: 'v2' })).status).toBe('queued');
  });

  test('are listed newest first, and stay complete over several pages of the list while new jobs arrive', async () => {
    const [third = '', second = ''] = ids;
    expect(await blocked.cancel(third)).toMatchObject({ status: 'failed', error: 'canceled' });
    expect(await blocked.report(third)).toMatchObject({ pages: 0, findings: [] });
    const first = await blocked.jobs('?limit=2');
    await blocked.start('acme', { version: 'v5' });
    const rest = await blocked.jobs(`?limit=2&cursor=${first.nextCursor}`);
    expect([...first.jobs, ...rest.jobs].map(({ jobId }) => jobId)).toEqual(ids);
    expect(rest.nextCursor).toBeNull();
    for (const job of first.jobs) expectJob(job);
    const failed = await blocked.jobs('?status=failed&domain=docs.acme.dev');
    expect(failed.jobs.map(({ jobId }) => jobId)).toEqual([third]);
    expect((await blocked.jobs('?domain=bare')).jobs).toEqual([]);

    const oldest = ids[2] ?? '';
    expect(['running', 'failed']).toContain((await blocked.cancel(oldest)).status);
    expect(await blocked.ended(oldest)).toMatchObject({ status: 'failed', error: 'canceled' });
    expect(await blocked.cancel(oldest)).toMatchObject({ status: 'failed', error: 'canceled' });
    // The domain can start its next job.
    await blocked.until(second, ({ status }) => status === 'running');
    open();
    expect(await blocked.ended(second)).toMatchObject({ status: 'completed', progress: 100 });
    expect(await blocked.cancel(second)).toEqual(await blocked.job(second));
    expect((await blocked.job(second)).status).toBe('completed');
  });
});

describe('an export job', () => {
  const SOURCES = {
    gone: [{ kind: 'folder', path: './gone' }, /^Cannot .*gone": it does not exist/],
    'gone-markdown': [{ kind: 'markdown', path: './gone' }, /^Cannot .*gone": it does not exist/],
    'no-pages': [{ kind: 'folder', path: './site/text' }, /^Cannot .*no HTML page/],
    'no-markdown': [{ kind: 'markdown', path: './site/text' }, /^Cannot .*\bno\b/],
    'no-archive': [{ kind: 'folder', path: './site/text/a.zip' }, /^Cannot .*a\.zip/],
  } as const;

  test('fails with the cause and the next step if its source is missing, has no pages, or is not an archive', async () => {
    const domains = Object.fromEntries(Object.entries(SOURCES).map(([domain, [source]]) => [domain, { source }]));
    const organization = { id: 'acme-inc', plan: 'enterprise', domains, keys: [adminKey('ci', KEYS.acme)] };
    const site = { 'text/a.txt': 'a', 'text/a.zip': 'PK no' };
    const failing = await startExporter(bench, { organizations: [organization] }, { site });
    for (const [domain, [, error]] of Object.entries(SOURCES)) {
      const job = await failing.ended((await failing.start(domain)).jobId);
      expectJob(job);
      expect(job).toMatchObject({ domain, status: 'failed', error: expect.stringMatching(error) });
      expect(job.error?.length).toBeLessThan(400);
      expect((await problemOf(await failing.call('POST', `${JOBS}/${job.jobId}/bundle`))).status).toBe(409);
      expect(await failing.report(job.jobId)).toMatchObject({ jobId: job.jobId, pages: 0, files: 0 });
    }
  });
});

describe('GET /jobs/{jobId}/report', () => {
  test('lists exported pages, skipped pages, and errors that did not end the job', async () => {
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

test('the exports folder contains the documented entries, and its work folder is empty', async () => {
  const names = await readdir(join(service.daemon.dataDir, 'exports'));
  expect(names).toEqual(expect.arrayContaining(['bundles', 'files', 'jobs.sqlite', 'manifests', 'work']));
  expect(await readdir(join(service.daemon.dataDir, 'exports/work'))).toEqual([]);
});
