import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { ExportReport } from '../../src/domain/job.ts';
import type { OwnedSite } from '../../src/domain/organization.ts';
import { untilAborted } from '../helpers/until-aborted.ts';
import { BUNDLE, exportsInMemory } from '../http/api/exports-in-memory.ts';

const ACME = { id: 'acme-inc', plan: 'enterprise', sites: [], keys: [] };
const SITE: OwnedSite = {
  domain: 'acme',
  hosts: [],
  source: { kind: 'folder', path: '/srv/acme' },
  organization: ACME,
};
const WHOLE = { version: null, paths: null };

/** A service with one job, in the state of the queue. */
async function withJob(changes: Parameters<typeof exportsInMemory>[0] = {}) {
  const made = exportsInMemory(changes);
  const { jobId } = await made.exports.start(SITE, { version: 'v1', paths: null });
  return { ...made, jobId };
}

describe('start() of the export service', () => {
  it('rejects a job if the queue has as many jobs as the current settings allow', async () => {
    const settings = { linkTtlMs: 1000, queuedMax: 1 };
    const { exports } = await withJob({ settings: () => settings });
    await expect(exports.start(SITE, WHOLE)).rejects.toMatchObject({ code: 'queue_full' });
    settings.queuedMax = 2;
    expect((await exports.start(SITE, WHOLE)).status).toBe('queued');
  });
});

describe('report() of the export service', () => {
  const REPORT: ExportReport = { jobId: '', pages: 2, files: 3, bytes: 9, counts: {}, findings: [] };

  it('returns an empty report for a job that failed before it exported a file', async () => {
    const { exports, queue, jobId } = await withJob();
    queue.move(jobId, { status: 'failed', error: 'Cannot read "/srv/acme": it is not there' });
    expect(await exports.report('acme-inc', jobId)).toEqual({ ...REPORT, jobId, pages: 0, files: 0, bytes: 0 });
  });
});

describe('bundle() of the export service', () => {
  it('returns a new link to the archive on each call, valid for the configured time', async () => {
    const settings = { linkTtlMs: 60_000, queuedMax: 1 };
    const { exports, queue, jobId } = await withJob({ settings: () => settings });
    queue.complete(jobId);
    const at = `https://store.example/${BUNDLE.sha256}/acme-export-2024-06-01.tar.gz`;
    expect(await exports.bundle('acme-inc', jobId)).toEqual({
      jobId,
      bundleUrl: `${at}?ttl=60000&n=1`,
      sizeBytes: 4096,
      expiresAt: '2024-06-01T10:01:00.000Z',
      sha256: BUNDLE.sha256,
    });
    settings.linkTtlMs = 1000;
    expect((await exports.bundle('acme-inc', jobId)).bundleUrl).toBe(`${at}?ttl=1000&n=2`);
  });

  it('includes the signature if bundles are signed', async () => {
    const { exports, queue, jobId } = await withJob({ signatureOf: async (sha256) => `signed ${sha256}` });
    queue.complete(jobId);
    expect((await exports.bundle('acme-inc', jobId)).signature).toBe(`signed ${BUNDLE.sha256}`);
  });

  it('packs a deleted archive again, once for concurrent calls of all jobs with this archive', async () => {
    const packed: string[] = [];
    const { promise: packing, resolve: finish } = Promise.withResolvers<void>();
    const { exports, queue, store, jobId } = await withJob({
      repack: async ({ bundle }) => {
        packed.push(bundle?.sha256 ?? '');
        await packing;
        store.kept.add(bundle?.sha256 ?? '');
      },
    });
    const { jobId: duplicate } = await exports.start(SITE, WHOLE);
    for (const id of [jobId, duplicate]) queue.complete(id);
    store.kept.clear();
    const pending = [jobId, duplicate, jobId].map((id) => exports.bundle('acme-inc', id));
    await expect.poll(() => packed.length).toBe(1);
    pending.push(exports.bundle('acme-inc', duplicate));
    finish();
    expect((await Promise.all(pending)).map(({ sha256 }) => sha256)).toEqual(Array(4).fill(BUNDLE.sha256));
    await exports.bundle('acme-inc', jobId);
    expect(packed).toEqual([BUNDLE.sha256]);
  });

  it('packs the archive again on the next call after packing has failed', async () => {
    let attempts = 0;
    const { exports, queue, store, jobId } = await withJob({
      repack: async () => {
        if (attempts++ === 0) throw new Error('the disk is full');
        store.kept.add(BUNDLE.sha256);
      },
    });
    queue.complete(jobId);
    store.kept.clear();
    await expect(exports.bundle('acme-inc', jobId)).rejects.toThrow('the disk is full');
    expect((await exports.bundle('acme-inc', jobId)).sha256).toBe(BUNDLE.sha256);
  });

  it('stops packing if the abort signal of the process is aborted', async () => {
    const stop = new AbortController();
    const { exports, queue, store, jobId } = await withJob({
      signal: stop.signal,
      repack: (_, signal) => untilAborted(signal),
    });
    queue.complete(jobId);
    store.kept.clear();
    const pending = exports.bundle('acme-inc', jobId);
    setImmediate(() => stop.abort(new Error('stopping')));
    await expect(pending).rejects.toThrow('stopping');
  });
});

describe('newest() of the export service', () => {
  it('finds the newest completed export of the whole site, or of a requested version', async () => {
    const { exports, queue } = exportsInMemory({ settings: () => ({ linkTtlMs: 1000, queuedMax: 200 }) });
    expect(await exports.newest('acme-inc', 'acme', null)).toBe(null);
    const start = async (version: string | null, paths: string[] | null = null) =>
      (await exports.start(SITE, { version, paths })).jobId;
    const old = queue.complete(await start('v1')).jobId;
    const newer = queue.complete(await start('v2')).jobId;
    for (let at = 0; at < 120; at += 1) queue.complete(await start('v2', ['/a']));
    await start('v3');
    expect(await exports.newest('acme-inc', 'acme', null)).toEqual({
      jobId: newer,
      sha256: BUNDLE.sha256,
      signature: null,
      traceparent: null,
    });
    expect(await exports.newest('acme-inc', 'acme', 'v1')).toMatchObject({ jobId: old });
    expect(await exports.newest('acme-inc', 'acme', 'v3')).toBe(null);
    expect(await exports.newest('acme-inc', 'other', null)).toBe(null);
    expect(await exports.newest('globex', 'acme', null)).toBe(null);
  });
});

describe('read() of the export service', () => {
  it('returns the archive, which is packed again if the store does not have the archive', async () => {
    const { exports, queue, store, jobId } = await withJob();
    queue.complete(jobId);
    store.kept.clear();
    const { stream, sizeBytes, fileName } = await exports.read('acme-inc', jobId, new AbortController().signal);
    expect((await buffer(stream)).toString()).toBe(BUNDLE.sha256);
    expect({ sizeBytes, fileName }).toEqual({ sizeBytes: 4096, fileName: 'acme-export-2024-06-01.tar.gz' });
    expect(store.kept.has(BUNDLE.sha256)).toBe(true);
  });

  it('rejects a job that is not completed or belongs to another organization', async () => {
    const { exports, jobId } = await withJob();
    const { signal } = new AbortController();
    await expect(exports.read('acme-inc', jobId, signal)).rejects.toMatchObject({ code: 'not_completed' });
    await expect(exports.read('globex', jobId, signal)).rejects.toMatchObject({ code: 'not_found' });
  });
});
