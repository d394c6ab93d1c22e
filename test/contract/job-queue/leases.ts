import { expect, test } from 'vitest';
import type { JobQueue } from '../../../src/export/jobs/queue/sql-job-queue.ts';
import { BUNDLE, LEASE_MS, reportOf } from './jobs.ts';
import type { OpenSubject } from './subject.ts';
import { Workbench } from './workbench.ts';

/** Leases that expire by the watcher's own clock, and attempts that fence older writers. */
export function leases(open: OpenSubject): void {
  const bench = new Workbench(open);

  /** What an idle worker sees when it looks for work. */
  const look = async (queue: JobQueue) => (await queue.claim(LEASE_MS))?.attempt ?? null;

  test('expires a lease that is not renewed, so that the process that had the lease can no longer write', async () => {
    const other = await bench.subject.another();
    await bench.add('one');
    const first = await bench.claim();
    await bench.queue.advance(first, { progress: 30, pageCount: 3, checkpoint: 'three pages' });
    expect(await look(other)).toBeNull();
    bench.clocks.wait(LEASE_MS - 1);
    expect(await look(other)).toBeNull();
    bench.clocks.wait(1);

    const second = await bench.claim(other);
    expect(second).toMatchObject({ attempt: 2, status: 'running', checkpoint: 'three pages', progress: 30 });
    await bench.expectPowerless(first);
    expect(await other.renew(second)).toBe('held');
    expect(await other.complete(second, BUNDLE, reportOf(second.jobId))).toBe(true);
    await bench.expectPowerless(first);
    expect(await bench.get('one')).toMatchObject({ status: 'completed', attempt: 2 });
  });

  test.for(['renew', 'advance'] as const)('extends a lease on %s()', async (sign) => {
    const other = await bench.subject.another();
    await bench.add('one');
    const claim = await bench.claim();
    for (let i = 0; i < 5; i += 1) {
      expect(await look(other)).toBeNull();
      bench.clocks.wait(LEASE_MS - 1);
      if (sign === 'renew') await bench.queue.renew(claim);
      else await bench.queue.advance(claim, { progress: 0, pageCount: 0 });
    }
    expect(await look(other)).toBeNull();
    expect(await bench.queue.renew(claim)).toBe('held');
  });

  test('returns a job with an expired lease from the first claim() of another process', async () => {
    await bench.add('one');
    await bench.claim();
    bench.clocks.wait(LEASE_MS);
    expect(await look(await bench.subject.another())).toBe(2);
  });

  test('expires the leases of an earlier boot when the steady clock starts again at zero', async () => {
    bench.clocks.wait(LEASE_MS * 1000);
    await bench.add('one');
    await bench.claim();
    const other = await bench.subject.another();
    expect(await look(other)).toBeNull();
    bench.clocks.beginAgain();
    expect(await look(other)).toBe(2);
  });

  test('ignores the time of day for leases', async () => {
    const other = await bench.subject.another();
    await bench.add('one');
    const claim = await bench.claim();
    expect(await look(other)).toBeNull();
    for (const time of ['2038-01-01T00:00:00Z', '1999-01-01T00:00:00Z', '2024-06-01T12:00:00Z']) {
      bench.clocks.setWall(time);
      expect(await look(other)).toBeNull();
    }
    expect(await bench.queue.renew(claim)).toBe('held');

    expect(await look(other)).toBeNull();
    bench.clocks.wait(LEASE_MS);
    bench.clocks.setWall('1999-01-01T00:00:00Z');
    expect(await look(other)).toBe(2);
  });

  test('claims a job with an expired lease before queued jobs, and starts no other job of its domain', async () => {
    const other = await bench.subject.another();
    await bench.add('one', { domain: 'docs' });
    await bench.claim();
    await bench.add('two', { domain: 'docs' });
    expect(await look(other)).toBeNull();
    await bench.add('three', { domain: 'blog' });
    bench.clocks.wait(LEASE_MS);
    expect(await bench.claim(other)).toMatchObject({ domain: 'docs', attempt: 2 });
    expect(await bench.claim(other)).toMatchObject({ domain: 'blog', attempt: 1 });
    expect(await look(other)).toBeNull();
  });

  test('gives a job with an expired lease to exactly one of several processes', async () => {
    const others = [bench.queue, await bench.subject.another(), await bench.subject.another()];
    await bench.add('one');
    await bench.claim();
    for (const queue of others) expect(await look(queue)).toBeNull();
    bench.clocks.wait(LEASE_MS);
    const attempts = await Promise.all(others.map(look));
    expect(attempts.filter((attempt) => attempt !== null)).toEqual([2]);
  });
}
