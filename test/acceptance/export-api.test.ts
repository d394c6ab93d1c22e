import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Job } from '../../src/domain/job.ts';
import { openBench } from '../helpers/daemon.ts';
import { blockJobs, type Exporter, JOBS, KEYS, problemOf, startExporter } from './export-service.ts';

/** Requests, keys and responses of the built program. */

const bench = openBench(afterAll);
const RFC_3339_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;
const JOB_KEYS = [
  ...['jobId', 'domain', 'version', 'status', 'progress', 'pageCount', 'createdAt', 'updatedAt', 'error'],
].sort();

let service: Exporter;

beforeAll(async () => {
  service = await startExporter(bench);
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

describe('the calls start, status and bundle of the export API', () => {
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
});

test('the export API rejects a call without a suitable key, and logs no key', async () => {
  for (const [key, status] of [
    ['svc_unknown', 401],
    [KEYS.acmeAssistant, 403],
  ] as const) {
    expect((await problemOf(await service.call('POST', JOBS, { key, body: { domain: 'acme' } }))).status).toBe(status);
  }
  for (const key of Object.values(KEYS)) expect(service.daemon.log()).not.toContain(key);
});

describe('the jobs of a busy export service', () => {
  let blocked: Exporter;
  /** Ids of the jobs of `acme`, newest first. The oldest one runs, and the other two are queued. */
  let ids: string[];

  beforeAll(async () => {
    const { config } = await blockJobs();
    blocked = await startExporter(bench, { ...config, exportApi: { concurrency: 4, queuedMax: 2 } });
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
});
