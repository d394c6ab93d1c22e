import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { BUCKET, KEY, listObjects, startS3Server } from '../export/stores/s3-server.ts';
import { openBench } from '../helpers/daemon.ts';
import { HAS_POSTGRES } from '../helpers/postgres.ts';
import { startCollector } from '../helpers/span-collector.ts';
import { waitFor } from '../helpers/wait-for.ts';
import { sha256Of } from './bundles.ts';
import { keyOf, SharedService } from './shared-service.ts';

const bench = openBench(afterEach);

/** Processes with separate disks, and a common PostgreSQL and bucket. */
async function startService(workers: number, config = {}) {
  const s3 = await startS3Server();
  bench.onEnd(() => s3.close());
  const { endpoint } = s3;
  const credentials = { accessKeyId: KEY, secretAccessKey: KEY };
  const store = { kind: 's3', bucket: BUCKET, region: 'eu-central-1', endpoint, pathStyle: true, ...credentials };
  const service = await SharedService.start(bench, { apis: 1, workers, store, config });
  return { service, endpoint };
}

describe.skipIf(!HAS_POSTGRES)('an API process and a worker with separate data folders', () => {
  test('run no job while bundles are stored on disk, and the worker reports which settings to change', async () => {
    const service = await SharedService.start(bench, { apis: 1, workers: 0 });
    const worker = await service.addWorker({ storage: { dir: './data-of-worker' } });
    const { jobId } = await service.as('a').start('a-0', { version: 'v1' });
    await waitFor(
      () => worker.log().match(/no API daemon stores its bundles in/),
      () => worker.log(),
    );
    expect(worker.log()).toContain('Set exportApi.store.kind to s3');
    const missing = expect.stringMatching(/no API daemon stores its bundles in .*\. Set exportApi\.store\.kind to s3/);
    expect((await worker.status()).notices).toContainEqual(missing);
    // Another worker shares the folder of the API process.
    await service.addWorker();
    expect(await service.as('a').ended(jobId)).toMatchObject({ status: 'completed' });
    expect(worker.log()).not.toContain(jobId);
  });
});

describe.skipIf(!HAS_POSTGRES)('an API process, workers, PostgreSQL and a bucket', () => {
  test('run a job on any worker, and upload no file of an unchanged site', async () => {
    const { service, endpoint } = await startService(1);
    const client = service.as('a');
    const first = await client.bundle((await client.export('a-0', { version: 'v1' })).jobId);
    expect(new URL(first.bundleUrl).origin).toBe(endpoint);
    expect(sha256Of(await client.download(first.bundleUrl))).toBe(first.sha256);
    const objects = new Set(await listObjects(endpoint));

    // Start another worker, whose disk is empty.
    expect(await service.workers[0]?.stop()).toBe(0);
    await service.addWorker();
    expect(await client.bundle((await client.export('a-0', { version: 'v1' })).jobId)).toMatchObject({
      sha256: first.sha256,
    });
    expect(new Set(await listObjects(endpoint))).toEqual(objects);

    const next = await client.bundle((await client.export('a-0', { version: 'v2' })).jobId);
    const more = (await listObjects(endpoint)).filter((name) => !objects.has(name));
    const kinds = more.map((name) => name.replace(/[^/]*$/, '')).toSorted();
    // A bundle has a manifest that names its version.
    expect(kinds).toEqual(['', 'jobs/manifests/']);
    expect(more).toContain(`${next.sha256}.tar.gz`);
  });

  test('create one trace, which includes the call that starts an export, the queue, the worker and the swap', async () => {
    const collector = await startCollector(bench);
    const traces = { endpoint: `${collector.origin}/` };
    const { service } = await startService(1, { traces });
    const folder = await bench.folder();
    await writeFile(join(folder, 'key'), keyOf('a'));
    const reader = await bench.start(
      {
        deployment: { domain: 'a-0' },
        staticExport: { enabled: true, renew: { apiUrl: service.apis[0]?.origin, keyFile: './key' } },
        traces,
      },
      { folder },
    );
    await reader.until(({ state }) => state === 'ready');
    expect(await (await fetch(`${reader.site}/guides/start`)).text()).toContain('Fixing the engine');
    // A stop sends waiting spans.
    const daemons = [reader, ...service.apis.map(({ daemon }) => daemon), ...service.workers];
    expect(await Promise.all(daemons.map((daemon) => daemon.stop()))).toEqual([0, 0, 0]);

    const all = collector.spans();
    const start = 'POST /v1/static-export/jobs';
    const call = all.find(({ name }) => name === start);
    const spans = all.filter(({ traceId }) => traceId === call?.traceId);
    const nameOf = (id: string | undefined): string | null => spans.find(({ spanId }) => spanId === id)?.name ?? null;
    expect(new Set(spans.map(({ name, parentSpanId }) => `${nameOf(parentSpanId)} > ${name}`))).toEqual(
      new Set([
        ...['null > deploy', 'deploy > POST', `POST > ${start}`, `${start} > send exports`],
        'send exports > process exports',
        ...['collect', 'check', 'search', 'describe', 'pack', 'store'].map((step) => `process exports > ${step}`),
        'POST > POST /v1/static-export/jobs/{jobId}/bundle',
        ...['fetch', 'extract', 'swap'].map((step) => `deploy > ${step}`),
      ]),
    );
    const instances = (name: string) =>
      new Set(spans.filter((span) => span.name === name).map(({ instance }) => instance));
    const [api, worker, deployment] = ['send exports', 'process exports', 'swap'].map(instances);
    expect([api?.size, worker?.size, deployment?.size]).toEqual([1, 1, 1]);
    expect(new Set([...(api ?? []), ...(worker ?? []), ...(deployment ?? [])]).size).toBe(3);
    expect(spans.filter(({ status }) => status !== undefined)).toEqual([]);
  });
});
