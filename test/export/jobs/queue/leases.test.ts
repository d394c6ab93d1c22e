import { describe, expect, test } from 'vitest';
import { LeaseWatch } from '../../../../src/export/jobs/queue/leases.ts';

const sign = (jobId: string, attempt: number, heartbeat: number) => ({ jobId, attempt, heartbeat });

describe('LeaseWatch.expired()', () => {
  test('counts from the first sight of a sign, each job for itself', () => {
    const watch = new LeaseWatch();
    expect(watch.expired([sign('a', 1, 0)], 10, 0)).toEqual([]);
    expect(watch.expired([sign('a', 1, 0), sign('b', 1, 0)], 10, 6)).toEqual([]);
    expect(watch.expired([sign('a', 1, 0), sign('b', 1, 0)], 10, 10)).toEqual([sign('a', 1, 0)]);
    expect(watch.expired([sign('a', 1, 0), sign('b', 1, 0)], 10, 16)).toEqual([sign('a', 1, 0), sign('b', 1, 0)]);
  });

  test.for([
    ['a heartbeat', sign('a', 1, 1)],
    ['an attempt whose heartbeats begin anew', sign('a', 2, 0)],
  ] as const)('counts anew from %s', ([, next]) => {
    const watch = new LeaseWatch();
    watch.expired([sign('a', 1, 0)], 10, 0);
    expect(watch.expired([next], 10, 10)).toEqual([]);
    expect(watch.expired([next], 10, 19)).toEqual([]);
    expect(watch.expired([next], 10, 20)).toEqual([next]);
  });

  test('forgets what runs no more: a job that is back with the same sign is new', () => {
    const watch = new LeaseWatch();
    watch.expired([sign('a', 1, 0)], 10, 0);
    watch.expired([], 10, 5);
    expect(watch.expired([sign('a', 1, 0)], 10, 12)).toEqual([]);
  });
});
