import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DocshelfError } from '../../../src/domain/errors.ts';
import { ORGANIZATION_RATE, type RateVerdict } from '../../../src/http/limits/organization-rates.ts';
import { GuardedCounter } from '../../../src/http/limits/postgres-counter.ts';

const VERDICT: RateVerdict = { isAllowed: true, remaining: 9, resetS: 3600 };
const AWAY = new DocshelfError('database_unavailable', 'Cannot use the database: 10.0.0.7 does not answer');

function guarded(onFault: 'open' | 'closed') {
  const state = { answer: async (): Promise<RateVerdict> => VERDICT, calls: 0 };
  const reported: unknown[] = [];
  const inner = {
    policy: ORGANIZATION_RATE,
    take: () => {
      state.calls += 1;
      return state.answer();
    },
  };
  const counter = new GuardedCounter(inner, {
    onFault: () => onFault,
    report: (error) => reported.push(error),
  });
  const goAway = (): void => {
    state.answer = () => Promise.reject(AWAY);
  };
  return { counter, state, reported, goAway };
}

describe('GuardedCounter (rate limit with an open or closed failure mode)', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  it('allows requests in open mode while the counter is unavailable, and retries the counter once a second', async () => {
    const { counter, state, reported, goAway } = guarded('open');
    expect(await counter.take('acme')).toEqual(VERDICT);
    goAway();
    for (let at = 0; at < 5; at += 1) expect(await counter.take('acme')).toBeNull();
    expect([state.calls, reported]).toEqual([2, [AWAY]]);
    for (let at = 0; at < 5; at += 1) {
      vi.advanceTimersByTime(1_000);
      for (let each = 0; each < 3; each += 1) expect(await counter.take('acme')).toBeNull();
    }
    expect([state.calls, reported]).toEqual([7, [AWAY]]);
  });

  it('does not wait in open mode while the counter is unavailable, and counts again when the counter is available', async () => {
    const { counter, state, goAway } = guarded('open');
    goAway();
    await counter.take('acme');
    state.answer = async () => VERDICT;
    vi.advanceTimersByTime(1_000);
    expect(await counter.take('acme')).toBeNull();
    await expect.poll(() => counter.take('acme')).toEqual(VERDICT);
  });

  it('rejects requests in closed mode while the counter is unavailable, with an error that contains no details', async () => {
    const { counter, state, goAway } = guarded('closed');
    goAway();
    const refused = { code: 'database_unavailable', message: expect.not.stringContaining('10.0.0.7') };
    for (let at = 0; at < 5; at += 1) await expect(counter.take('acme')).rejects.toMatchObject(refused);
    expect(state.calls).toBe(1);
    state.answer = async () => VERDICT;
    vi.advanceTimersByTime(1_000);
    expect(await counter.take('acme')).toEqual(VERDICT);
  });

  it('treats a counter that does not respond as unavailable', async () => {
    const { counter, state, reported } = guarded('open');
    state.answer = () => new Promise(() => undefined);
    const taken = counter.take('acme');
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await taken).toBeNull();
    expect(reported).toMatchObject([{ code: 'database_unavailable' }]);
    expect(await counter.take('acme')).toBeNull();
    expect(state.calls).toBe(1);
  });
});
