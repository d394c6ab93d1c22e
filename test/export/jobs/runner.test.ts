import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DocshelfError } from '../../../src/domain/errors.ts';
import type { JobQueue } from '../../../src/export/jobs/queue/sql-job-queue.ts';
import type { SearchData } from '../../../src/export/ports.ts';
import { jobIdOf } from '../../contract/job-queue/jobs.ts';
import { endless, JobBench } from './job-bench.ts';

describe('JobRunner (runs queued export jobs)', () => {
  let bench: JobBench;

  beforeEach(async () => {
    bench = await JobBench.open();
  });
  afterEach(() => bench.close());

  const kinds = () => bench.events.map(({ kind }) => kind);
  const lastEvent = () => bench.events.at(-1);
  /** The queue of the bench with other methods. */
  const queueWith = (changes: Partial<JobQueue>) =>
    new Proxy(bench.queue, {
      get: (target, name: keyof JobQueue) => changes[name] ?? target[name]?.bind(target),
    });

  it('runs a new job to its end immediately after nudge(), and leaves no work folder', async () => {
    const runner = bench.run();
    await bench.add('one');
    runner.nudge();
    const job = await bench.ended('one');
    expect(job).toMatchObject({ status: 'completed', progress: 100, pageCount: 2, attempt: 1 });
    expect(await bench.store.has(job.bundle?.sha256 ?? '')).toBe(true);
    expect(await bench.queue.report(job.jobId)).toMatchObject({ pages: 2, files: 2, counts: {} });
    expect(kinds()).toEqual(['started', 'completed']);
    expect(await readdir(bench.folder.work)).toEqual([]);
  });

  it('runs as many jobs concurrently as configured', async () => {
    for (const name of ['one', 'two', 'three']) await bench.add(name);
    bench.run({ concurrency: 2, searchData: endless() });
    await bench.until('two', ({ status }) => status === 'running');
    expect(await bench.queue.counts()).toEqual({ queued: 1, running: 2 });
  });

  it('ends a canceled job as canceled, even while its search data is created', async () => {
    const search = endless();
    const { jobId } = await bench.add('one');
    bench.run({ searchData: search });
    await search.begun;
    await bench.queue.cancel(jobId);
    expect(await bench.ended('one')).toMatchObject({ status: 'failed', error: 'canceled' });
    await expect.poll(lastEvent).toMatchObject({ kind: 'failed', error: { code: 'canceled' } });
    expect(await readdir(bench.folder.work)).toEqual([]);
  });

  it('fails a job that exceeds its deadline', async () => {
    await bench.add('one');
    bench.run({ searchData: endless(), deadlineMs: 300 });
    expect((await bench.ended('one')).error).toMatch(/exportApi\.deadline/);
    await expect.poll(lastEvent).toMatchObject({ kind: 'failed', error: { code: 'deadline_exceeded' } });
  });

  it('does not fail a job if the database is unavailable at the end of the job, so that another daemon can finish it', async () => {
    await bench.add('one');
    const fault = new DocshelfError('database_unavailable', 'Cannot use the database: away');
    const complete = vi.fn().mockRejectedValue(fault);
    bench.run({ queue: queueWith({ complete }) });
    const away = { kind: 'fault', job: { jobId: jobIdOf('one') }, error: { code: 'database_unavailable' } };
    await expect.poll(lastEvent).toMatchObject(away);
    expect(complete).toHaveBeenCalledOnce();
    expect(await bench.queue.get(jobIdOf('one'))).toMatchObject({ status: 'running', error: null });
  });

  it('restarts a job from the beginning if its checkpoint is on the disk of another machine', async () => {
    await bench.add('one');
    const claim = await bench.queue.claim(60_000);
    if (claim === null) throw new Error('there is no job');
    await bench.queue.advance(claim, { progress: 35, pageCount: 1, checkpoint: 'f'.repeat(64) });
    await bench.queue.release(claim);
    bench.run();
    expect(await bench.ended('one')).toMatchObject({ status: 'completed', pageCount: 2, attempt: 2 });
  });

  it('fails a job whose organization and domain have no source in the config', async () => {
    const calls: unknown[] = [];
    await bench.add('one');
    bench.run({
      siteOf: ({ organizationId, domain }) => {
        calls.push([organizationId, domain]);
        return null;
      },
    });
    expect((await bench.ended('one')).error).toMatch(/^Cannot export "one"/);
    expect(calls).toEqual([['acme', 'one']]);
    await expect.poll(lastEvent).toMatchObject({ error: { code: 'bad_source' } });
  });

  it('releases a job when the runner stops, and resumes the job from its checkpoint', async () => {
    const search = endless();
    await bench.add('one');
    const first = bench.run({ searchData: search });
    await search.begun;
    await first.stop();
    const claimed = await bench.get('one');
    expect(claimed).toMatchObject({
      status: 'queued',
      pageCount: 2,
      checkpoint: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(kinds()).toEqual(['started', 'left']);
    // Later changes of the site belong to the next job.
    await bench.write({ 'late.html': '<!doctype html><title>Late</title>' });
    bench.run();
    expect(await bench.ended('one')).toMatchObject({ status: 'completed', attempt: 2, pageCount: 2 });
  });

  it('writes nothing after another attempt has taken the job', async () => {
    const search = endless();
    const { jobId } = await bench.add('one');
    bench.run({ searchData: search, leaseMs: 300 });
    await search.begun;
    const other = await bench.another();
    await other.claim(15_000);
    // The heartbeat of the first worker uses real time, so it can renew its lease between the two claims.
    const claimLater = () => {
      bench.clocks.wait(15_000);
      return other.claim(15_000);
    };
    await expect.poll(claimLater).toMatchObject({ attempt: 2, jobId });
    await expect.poll(kinds).toEqual(['started', 'left']);
    expect(await bench.get('one')).toMatchObject({ status: 'running', attempt: 2 });
  });

  it('completes a job without search data if search data cannot be created, and states this in the export report', async () => {
    const failing: SearchData = {
      make: async (_site, into) => {
        await writeFile(join(into, 'half'), 'half');
        throw new DocshelfError('model_invalid', 'Cannot read the model');
      },
    };
    await bench.add('one');
    bench.run({ searchData: failing });
    const { jobId } = await bench.ended('one');
    const report = await bench.queue.report(jobId);
    expect(report).toMatchObject({ counts: { search_data_missing: 1 }, files: 2 });
    expect(report?.findings).toEqual([
      { kind: 'search_data_missing', page: '', detail: expect.stringContaining('model') },
    ]);
  });

  it('fails a job after too many attempts', async () => {
    const { jobId } = await bench.add('one');
    for (let attempt = 1; attempt <= 50; attempt++) {
      const claim = await bench.queue.claim(15_000);
      if (claim !== null) await bench.queue.release(claim);
    }
    expect((await bench.queue.get(jobId))?.attempt).toBe(50);
    bench.run();
    expect(await bench.ended('one')).toMatchObject({ status: 'failed', attempt: 51, error: expect.any(String) });
  });

  it('continues after a temporary failure of the queue', async () => {
    await bench.add('one');
    const claim = vi.fn(bench.queue.claim.bind(bench.queue));
    claim.mockRejectedValueOnce(new DocshelfError('busy', 'Cannot use the job store'));
    bench.run({ queue: queueWith({ claim }) });
    expect(await bench.ended('one')).toMatchObject({ status: 'completed' });
    expect(kinds()).toEqual(['fault', 'started', 'completed']);
  });

  it('keeps the work folder of an unfinished job, and removes the work folder of an ended job whose process was killed', async () => {
    await bench.exported('over');
    await bench.add('waits', 'other');
    await bench.queue.claim(15_000);
    for (const name of ['over-1', 'waits-1', `${jobIdOf('over')}-repack-x`]) {
      const folder = name.startsWith('se_') ? name : `${jobIdOf(name.replace('-1', ''))}-1`;
      await mkdir(join(bench.folder.work, folder));
    }
    bench.run();
    const left = [`${jobIdOf('over')}-repack-x`, `${jobIdOf('waits')}-1`].sort();
    await expect.poll(async () => (await readdir(bench.folder.work)).sort()).toEqual(left);
  });
});
