import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Job } from '../../src/domain/job.ts';
import { openBench } from '../helpers/daemon.ts';
import { setClock, withClock } from '../helpers/shifted-clock.ts';
import { sha256Of } from './bundles.ts';
import { type Exporter, JOBS, problemOf, startAgain, startExporter } from './export-service.ts';

/** Links to bundles and their downloads, with the built program. */

const bench = openBench(afterAll);
/** Default of `exportApi.linkTtl`. */
const LINK_MS = 3_600_000;

let service: Exporter;
let clock = '';
let job: Job;
let archive: Buffer;

beforeAll(async () => {
  clock = join(await bench.folder(), 'clock');
  service = await startExporter(bench, {}, { env: withClock(clock) });
  job = await service.export('acme', { version: 'v1' });
  archive = await service.download((await service.bundle(job.jobId)).bundleUrl);
});

describe('a bundle link of the export API', () => {
  test('responds with 403 and the expiry time after its expiry, while the bundle call returns a new link', async () => {
    const { bundleUrl, expiresAt } = await service.bundle(job.jobId);
    setClock(clock, LINK_MS + 5_000);
    try {
      for (const method of ['GET', 'HEAD']) expect((await fetch(bundleUrl, { method })).status).toBe(403);
      const problem = await problemOf(await fetch(bundleUrl));
      expect([problem.status, problem.code]).toEqual([403, 'bundle_link_expired']);
      expect(problem.error).toContain(expiresAt);
      const { bundleUrl: fresh } = await service.bundle(job.jobId);
      expect((await service.download(fresh)).equals(archive)).toBe(true);
      expect((await service.job(job.jobId)).status).toBe('completed');
    } finally {
      setClock(clock, 0);
    }
  });

  test('never contains the Host header of a request, and is never logged', async () => {
    const response = await service.call('POST', `${JOBS}/${job.jobId}/bundle`, {
      headers: { 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' },
    });
    const { bundleUrl } = (await response.json()) as { bundleUrl: string };
    expect(new URL(bundleUrl).origin).toBe(service.origin);
    const signature = new URL(bundleUrl).searchParams.get('signature') ?? 'none';
    await fetch(bundleUrl);
    await fetch(bundleUrl.replace(signature, `${signature}x`));
    expect(service.daemon.log()).not.toContain(signature);
  });

  test('expires after linkTtl, and starts with api.publicUrl if this key is set', async () => {
    const publicUrl = 'https://api.example/docs';
    const ownClock = join(await bench.folder(), 'clock');
    const short = await startExporter(bench, { exportApi: { linkTtl: '1m' } }, { env: withClock(ownClock) });
    const { jobId } = await short.export();
    const { bundleUrl, expiresAt } = await short.bundle(jobId);
    expect(Date.parse(expiresAt) - Date.now()).toBeLessThanOrEqual(61_000);
    expect((await fetch(bundleUrl)).status).toBe(200);
    setClock(ownClock, 62_000);
    expect((await problemOf(await fetch(bundleUrl))).error).toContain(expiresAt);

    await short.daemon.rewriteConfig({ api: { publicUrl }, exportApi: { linkTtl: '7d' } });
    await short.daemon.until(({ lastReload }) => lastReload?.ok === true);
    const proxied = await short.bundle(jobId);
    expect(proxied.bundleUrl.startsWith(`${publicUrl}/v1/bundles/`)).toBe(true);
    expect(Date.parse(proxied.expiresAt) - Date.now()).toBeGreaterThan(6 * 86_400_000);
    const here = proxied.bundleUrl.replace(publicUrl, short.origin);
    expect((await fetch(here)).status).toBe(200);
  });
});

test('export jobs, bundle links and bundles survive kill -9 and a restart of the daemon', async () => {
  const first = await startExporter(bench);
  const { jobId } = await first.export();
  const { bundleUrl, sha256 } = await first.bundle(jobId);
  const before = await first.job(jobId);
  await first.daemon.kill();
  const second = await startAgain(bench, first);
  expect(await second.job(jobId)).toEqual(before);
  expect(sha256Of(await second.download(bundleUrl))).toBe(sha256);
  expect((await second.bundle(jobId)).sha256).toBe(sha256);
  expect(await second.daemon.stop()).toBe(0);
});
