import { describe, expect, it } from 'vitest';
import { CircuitBreaker } from '../../../src/search/hosted-search.ts';

const SETTINGS = { failuresMax: 2, openMs: 1_000 };

function breakerAt(clock: { nowMs: number }) {
  return new CircuitBreaker(SETTINGS, () => clock.nowMs);
}

/** A circuit breaker that has just opened. */
function opened(clock: { nowMs: number }): CircuitBreaker {
  const breaker = breakerAt(clock);
  breaker.failed();
  breaker.failed();
  return breaker;
}

describe('CircuitBreaker', () => {
  it('opens after consecutive failures, but not if a success occurs between the failures', () => {
    const breaker = breakerAt({ nowMs: 0 });
    breaker.failed();
    breaker.succeeded();
    breaker.failed();
    expect(breaker.admits()).toBe(true);
    breaker.failed();
    expect(breaker.admits()).toBe(false);
  });

  it('admits exactly one attempt after the open period', () => {
    const clock = { nowMs: 0 };
    const breaker = opened(clock);
    clock.nowMs = 999;
    expect(breaker.admits()).toBe(false);
    clock.nowMs = 1_000;
    expect([breaker.admits(), breaker.admits()]).toEqual([true, false]);
  });

  it('closes if the attempt after the open period succeeds', () => {
    const clock = { nowMs: 0 };
    const breaker = opened(clock);
    clock.nowMs = 1_000;
    breaker.admits();
    breaker.succeeded();
    expect([breaker.admits(), breaker.admits()]).toEqual([true, true]);
  });

  it('opens again if the attempt after the open period fails', () => {
    const clock = { nowMs: 0 };
    const breaker = opened(clock);
    clock.nowMs = 1_000;
    breaker.admits();
    breaker.failed();
    clock.nowMs = 1_999;
    expect(breaker.admits()).toBe(false);
    clock.nowMs = 2_000;
    expect(breaker.admits()).toBe(true);
  });

  it('admits another attempt if the attempt after the open period is aborted', () => {
    const clock = { nowMs: 0 };
    const breaker = opened(clock);
    clock.nowMs = 1_000;
    breaker.admits();
    breaker.givenUp();
    expect(breaker.admits()).toBe(true);
  });

  it('stays open if an attempt from before the open period is aborted', () => {
    const clock = { nowMs: 0 };
    const breaker = opened(clock);
    breaker.givenUp();
    expect(breaker.admits()).toBe(false);
  });
});
