import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ORGANIZATION_RATE, SlidingLog } from '../../../src/http/limits/sliding-log.ts';

const HOUR_MS = 3600_000;

function take(log: SlidingLog, times: number, nowMs: number): number {
  let allowed = 0;
  for (let index = 0; index < times; index++) if (log.take(nowMs).isAllowed) allowed++;
  return allowed;
}

describe('SlidingLog', () => {
  it('lets 10,000 through, refuses the next, and frees a place exactly an hour after the first', () => {
    const log = new SlidingLog(ORGANIZATION_RATE);
    expect(log.take(1_000)).toEqual({ isAllowed: true, remaining: 9_999, resetS: 3600 });
    expect(take(log, 9_998, 2_000)).toBe(9_998);
    expect(log.take(3_000)).toEqual({ isAllowed: true, remaining: 0, resetS: 3598 });
    expect(log.take(3_000)).toEqual({ isAllowed: false, remaining: 0, resetS: 3598 });
    expect(log.take(1_000 + HOUR_MS - 1)).toEqual({ isAllowed: false, remaining: 0, resetS: 1 });
    expect(log.take(1_000 + HOUR_MS)).toEqual({ isAllowed: true, remaining: 0, resetS: 1 });
    expect(log.take(1_000 + HOUR_MS).isAllowed).toBe(false);
    expect(take(log, 20_000, 2_000 + HOUR_MS)).toBe(9_998);
  });

  it('is no fixed window: what was used at the end of one hour is missing in the next', () => {
    const log = new SlidingLog(ORGANIZATION_RATE);
    expect(take(log, 10_001, HOUR_MS - 1)).toBe(10_000);
    expect(take(log, 10_000, HOUR_MS + 1)).toBe(0);
  });

  it('lets through as many as the policy has in every window, and no fewer', () => {
    const policy = { requestsMax: 5, windowMs: 1_000 };
    const gaps = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 400 })), { maxLength: 200 });
    fc.assert(
      fc.property(gaps, (waits) => {
        const log = new SlidingLog(policy);
        const allowed: number[] = [];
        let nowMs = 0;
        for (const wait of waits) {
          nowMs += wait;
          const inWindow = allowed.filter((time) => time > nowMs - policy.windowMs).length;
          const { isAllowed, remaining } = log.take(nowMs);
          expect(isAllowed).toBe(inWindow < policy.requestsMax);
          if (isAllowed) allowed.push(nowMs);
          expect(remaining).toBe(policy.requestsMax - inWindow - (isAllowed ? 1 : 0));
        }
      }),
    );
  });

  it('goes on from former times, in any order, and forgets those that are over', () => {
    const policy = { requestsMax: 3, windowMs: 1_000 };
    const log = new SlidingLog(policy, [900, 100, 500]);
    expect(log.take(1_099).isAllowed).toBe(false);
    expect(log.take(1_100).isAllowed).toBe(true);
    expect(log.take(1_100).isAllowed).toBe(false);
  });

  it('takes the newest of more former times than the policy lets through', () => {
    const log = new SlidingLog({ requestsMax: 2, windowMs: 1_000 }, [100, 200, 300]);
    expect(log.take(1_150).isAllowed).toBe(false);
    expect(log.take(1_200).isAllowed).toBe(true);
  });

  it('counts the future as now after the clock was set back: never too many, and never shut for longer than a window', () => {
    const policy = { requestsMax: 2, windowMs: 1_000 };
    const log = new SlidingLog(policy, [50_000, 50_500]);
    expect(log.take(10_000)).toEqual({ isAllowed: false, remaining: 0, resetS: 1 });
    expect(log.take(10_999).isAllowed).toBe(false);
    expect(log.take(11_000).isAllowed).toBe(true);
  });
});
