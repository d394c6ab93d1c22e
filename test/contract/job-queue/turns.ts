import { expect, test } from 'vitest';
import type { StoredJob } from '../../../src/export/ports.ts';
import { BUNDLE, faultOf, jobIdOf, LEASE_MS, newJob, reportOf } from './jobs.ts';
import type { OpenSubject } from './subject.ts';
import { Workbench } from './workbench.ts';

/** Order of jobs: organizations take turns, and each domain runs one job. */
export function turns(open: OpenSubject): void {
  const bench = new Workbench(open);
  const ORGANIZATIONS = ['a', 'b', 'c', 'd', 'e'];

  test('takes turns between five organizations, starts the oldest job of each first, and runs one job per domain at a time', {
    timeout: 60_000,
  }, async () => {
    // The first organization adds all of its jobs before the second one adds any.
    const added = ORGANIZATIONS.flatMap((organizationId) =>
      Array.from({ length: 60 }, (_, i) => {
        return newJob(jobIdOf(`${organizationId}${i}`), {
          organizationId,
          domain: `${organizationId}-${i % 4}`,
          version: `v${i}`,
        });
      }),
    );
    await Promise.all(added.map((job) => bench.queue.add(job, 60)));
    expect(await bench.queue.counts()).toEqual({ queued: 300, running: 0 });

    const begun: string[] = [];
    const running: StoredJob[] = [];
    while (begun.length < 300) {
      const claim = running.length < 8 ? await bench.queue.claim(LEASE_MS) : null;
      if (claim === null) {
        const ended = running.shift();
        if (ended === undefined) throw new Error(`nothing runs after ${begun.length} jobs`);
        expect(await bench.queue.complete(ended, BUNDLE, reportOf(ended.jobId))).toBe(true);
        continue;
      }
      running.push(claim);
      begun.push(claim.jobId);
      expect(new Set(running.map(({ domain }) => domain)).size).toBe(running.length);
    }

    const organizationOf = new Map(added.map(({ jobId, organizationId }) => [jobId, organizationId]));
    for (let i = 0; i < 300; i += ORGANIZATIONS.length) {
      const round = begun.slice(i, i + ORGANIZATIONS.length).map((jobId) => organizationOf.get(jobId));
      expect(round.toSorted()).toEqual(ORGANIZATIONS);
    }
    for (const organizationId of ORGANIZATIONS) {
      const own = begun.filter((jobId) => organizationOf.get(jobId) === organizationId);
      expect(own).toEqual(Array.from({ length: 60 }, (_, i) => jobIdOf(`${organizationId}${i}`)));
    }
  });

  test('starts a job of a new organization next, before the next job of other organizations', async () => {
    for (const name of ['one', 'two']) await bench.add(`a ${name}`, { organizationId: 'a' });
    await bench.claim();
    await bench.add('b', { organizationId: 'b' });
    expect((await bench.claim()).organizationId).toBe('b');
    expect((await bench.claim()).organizationId).toBe('a');
  });

  test('skips queued jobs of a busy domain, and claims jobs of other domains', async () => {
    await bench.add('a1', { organizationId: 'a', domain: 'docs' });
    await bench.add('a2', { organizationId: 'a', domain: 'docs', version: 'v2' });
    await bench.add('a3', { organizationId: 'a', domain: 'blog' });
    await bench.add('b1', { organizationId: 'b', domain: 'help' });
    const first = await bench.claim();
    const next = [await bench.claim(), await bench.claim()].map(({ jobId }) => jobId);
    expect(next).toEqual(['b1', 'a3'].map(jobIdOf));
    expect(await bench.queue.claim(LEASE_MS)).toBeNull();
    await bench.queue.fail(first, faultOf('no pages'), null);
    expect((await bench.claim()).jobId).toBe(jobIdOf('a2'));
  });

  test('gives concurrent processes jobs of different organizations', { timeout: 60_000 }, async () => {
    const queues = [bench.queue, await bench.subject.another(), await bench.subject.another()];
    await Promise.all(queues.map((queue) => queue.claim(LEASE_MS)));
    for (let round = 0; round < 4; round += 1) {
      for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) {
        await bench.add(`${name} of round ${round}`, { organizationId: name.charAt(0) });
      }
      const claims = await Promise.all(queues.map((queue) => queue.claim(LEASE_MS)));
      expect(claims.map((claim) => claim?.organizationId).toSorted()).toEqual(['a', 'b', 'c']);
      const rest = [await bench.claim(), await bench.claim()];
      for (const claim of [...claims, ...rest]) {
        if (claim !== null) await bench.queue.complete(claim, BUNDLE, reportOf(claim.jobId));
      }
    }
  });

  test('keeps the order of jobs if the time of day jumps', async () => {
    for (const organizationId of ['a', 'b']) {
      for (const i of [1, 2]) await bench.add(`${organizationId}${i}`, { organizationId });
    }
    const order: string[] = [];
    for (const time of ['2024-06-01', '2020-01-01', '2030-01-01', '2019-01-01']) {
      bench.clocks.setWall(`${time}T00:00:00Z`);
      order.push((await bench.claim()).jobId);
    }
    expect(order).toEqual(['a1', 'b1', 'a2', 'b2'].map(jobIdOf));
  });
}
