import { afterEach, describe, expect, test } from 'vitest';
import { listObjects, startS3Server, storeAt } from '../export/stores/s3-server.ts';
import { openBench } from '../helpers/daemon.ts';
import { HAS_POSTGRES } from '../helpers/postgres.ts';
import { waitFor } from '../helpers/wait-for.ts';
import { sha256Of } from './bundles.ts';
import { SharedService } from './shared-service.ts';

const bench = openBench(afterEach);

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
    const { endpoint } = await startS3Server();
    const service = await SharedService.start(bench, { apis: 1, workers: 1, store: storeAt(endpoint) });
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
});
