import { describe, expect, it } from 'vitest';
import { CircuitBreaker } from '../../../src/search/hosted-search.ts';

const SETTINGS = { failuresMax: 2, openMs: 1_000 };

function breakerAt(clock: { nowMs: number }) {
  return new CircuitBreaker(SETTINGS, () => clock.nowMs);
}

/** A breaker that has just opened. */
function opened(clock: { nowMs: number }): CircuitBreaker {
  const breaker = breakerAt(clock);
  breaker.failed();
  breaker.failed();
  return breaker;
}

describe('CircuitBreaker', () => {
  it('opens after failures in a row, and not after as many with a success between', () => {
    const breaker = breakerAt({ nowMs: 0 });
    breaker.failed();
    breaker.succeeded();
    breaker.failed();
    expect(breaker.admits()).toBe(true);
    breaker.failed();
    expect(breaker.admits()).toBe(false);
  });

  it('lets one attempt through when its time is over, and no other meanwhile', () => {
    const clock = { nowMs: 0 };
    const breaker = opened(clock);
    clock.nowMs = 999;
    expect(breaker.admits()).toBe(false);
    clock.nowMs = 1_000;
    expect([breaker.admits(), breaker.admits()]).toEqual([true, false]);
  });

  it('closes with the success of that attempt', () => {
    const clock = { nowMs: 0 };
    const breaker = opened(clock);
    clock.nowMs = 1_000;
    breaker.admits();
    breaker.succeeded();
    expect([breaker.admits(), breaker.admits()]).toEqual([true, true]);
  });

  it('opens anew with its failure', () => {
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

  it('lets the next one try where that attempt was given up', () => {
    const clock = { nowMs: 0 };
    const breaker = opened(clock);
    clock.nowMs = 1_000;
    breaker.admits();
    breaker.givenUp();
    expect(breaker.admits()).toBe(true);
  });

  it('stays open where an attempt is given up that began before it opened', () => {
    const clock = { nowMs: 0 };
    const breaker = opened(clock);
    breaker.givenUp();
    expect(breaker.admits()).toBe(false);
  });
});
