import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type End, Lease } from '../../../src/export/jobs/runner.ts';
import type { Claimed } from '../../../src/export/ports.ts';

const CLAIM: Claimed = { attempt: 1, jobId: 'se_0000000000000001' };
const TIMES = { leaseMs: 15_000, deadlineMs: 60_000 };

describe('Lease of an export job', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function startRenewing(renew: () => Promise<'held' | 'lost' | 'canceled'>, times = TIMES) {
    const stopping = new AbortController();
    const renewals = vi.fn(renew);
    const lease = new Lease({ renew: renewals }, CLAIM, times, stopping.signal);
    return { lease, renewals, stopping };
  }

  it('is renewed until it ends: once per second, or three times per lease if the lease is short', async () => {
    const { lease, renewals } = startRenewing(async () => 'held');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(renewals).toHaveBeenCalledTimes(10);
    const short = startRenewing(async () => 'held', { ...TIMES, leaseMs: 900 });
    await vi.advanceTimersByTimeAsync(3_000);
    expect(short.renewals).toHaveBeenCalledTimes(10);
    expect([lease.ended, lease.signal.aborted]).toEqual([null, false]);
    for (const each of [lease, short.lease]) each.end('lost');
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each<'lost' | 'canceled'>(['lost', 'canceled'])(
    'ends as %s if the queue returns this state for a renewal',
    async (state) => {
      const { lease } = startRenewing(async () => state);
      await vi.advanceTimersByTimeAsync(1_000);
      expect([lease.ended, lease.signal.aborted]).toEqual([state, true]);
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  it('continues after a failed renewal', async () => {
    let calls = 0;
    const { lease } = startRenewing(async () => {
      calls += 1;
      if (calls === 1) throw new Error('the queue is busy');
      return 'held';
    });
    await vi.advanceTimersByTimeAsync(3_000);
    expect([calls, lease.ended]).toEqual([3, null]);
  });

  it('ends at the deadline, and when the process stops', async () => {
    const late = startRenewing(async () => 'held');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(late.lease.ended).toBe<End>('deadline');
    const { lease, stopping } = startRenewing(async () => 'held');
    stopping.abort();
    expect([lease.ended, lease.signal.aborted]).toEqual(['stopping', true]);
  });

  it('keeps the first reason if it ends for several reasons', async () => {
    const { lease, stopping } = startRenewing(async () => 'lost');
    lease.end('canceled');
    stopping.abort();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(lease.ended).toBe('canceled');
  });
});
