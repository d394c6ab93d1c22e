import { afterEach, describe, expect, it } from 'vitest';
import type { RequestCounter } from '../../src/http/limits/organization-rates.ts';
import { HAS_POSTGRES } from '../helpers/postgres.ts';
import { SeededRandom } from '../helpers/random.ts';
import { type CounterSubject, folderSubject, type OpenCounter, postgresSubject } from './request-counter/subject.ts';

/** Contract of each RequestCounter (src/http/limits/organization-rates.ts), for all kinds. */
const SUBJECTS: readonly (readonly [name: string, isThere: boolean, open: OpenCounter])[] = [
  ['FolderCounter', true, folderSubject],
  ['PostgresCounter', HAS_POSTGRES, postgresSubject()],
];

const SMALL = { requestsMax: 2, windowMs: 1_000 };

describe.for(SUBJECTS)('request counter %s', ([, isThere, open]) => {
  if (!isThere) return it.skip('is skipped because PostgreSQL is not available');

  const opened: CounterSubject[] = [];
  const openWith = async (policy: RequestCounter['policy']): Promise<CounterSubject> => {
    const subject = await open(policy);
    opened.push(subject);
    return subject;
  };
  afterEach(async () => {
    for (const subject of opened.splice(0)) await subject.close();
  });
  const allowedOf = async (counter: RequestCounter, times: number, organization = 'acme'): Promise<number> => {
    const verdicts = await Promise.all(Array.from({ length: times }, () => counter.take(organization)));
    return verdicts.filter((verdict) => verdict?.isAllowed).length;
  };

  it('allows 10,000 requests an hour, rejects the next request, and stops counting each request exactly one hour later', async () => {
    const [requestsMax, hourMs] = [10_000, 3600_000];
    const { counter, turnTo } = await openWith({ requestsMax, windowMs: hourMs });
    await turnTo(1_000);
    expect(await counter.take('acme')).toEqual({ isAllowed: true, remaining: 9_999, resetS: 3600 });
    await turnTo(2_000);
    expect(await allowedOf(counter, 9_998)).toBe(9_998);
    await turnTo(3_000);
    expect(await counter.take('acme')).toEqual({ isAllowed: true, remaining: 0, resetS: 3598 });
    expect(await counter.take('acme')).toEqual({ isAllowed: false, remaining: 0, resetS: 3598 });
    await turnTo(1_000 + hourMs - 1);
    expect(await counter.take('acme')).toEqual({ isAllowed: false, remaining: 0, resetS: 1 });
    await turnTo(1_000 + hourMs);
    expect(await allowedOf(counter, 2)).toBe(1);
    await turnTo(2_000 + hourMs);
    expect(await allowedOf(counter, 9_999)).toBe(9_998);
  });

  it('allows exactly the number of requests of the policy in every window', async () => {
    const policy = { requestsMax: 5, windowMs: 1_000 };
    const { counter, turnTo } = await openWith(policy);
    const random = new SeededRandom(7);
    const allowed: number[] = [];
    let nowMs = 10_000;
    for (let round = 0; round < 200; round += 1) {
      if (random.next() < 0.6) nowMs += Math.floor(random.next() * 400);
      await turnTo(nowMs);
      const inWindow = allowed.filter((time) => time > nowMs - policy.windowMs).length;
      const verdict = await counter.take('acme');
      expect(verdict).toMatchObject({
        isAllowed: inWindow < policy.requestsMax,
        remaining: Math.max(0, policy.requestsMax - inWindow - 1),
      });
      if (verdict?.isAllowed) allowed.push(nowMs);
    }
    expect(allowed.length).toBeGreaterThan(50);
  });

  it('returns the exact remaining number to each of several concurrent requests', async () => {
    const { counter } = await openWith({ requestsMax: 5, windowMs: 1_000 });
    const verdicts = await Promise.all(Array.from({ length: 8 }, () => counter.take('acme')));
    expect(verdicts.map((verdict) => [verdict?.isAllowed, verdict?.remaining])).toEqual([
      ...[4, 3, 2, 1, 0].map((remaining) => [true, remaining]),
      ...[0, 0, 0].map((remaining) => [false, remaining]),
    ]);
  });

  it('counts each organization separately', async () => {
    const { counter } = await openWith(SMALL);
    expect(await Promise.all([allowedOf(counter, 3, 'acme'), allowedOf(counter, 3, 'globex')])).toEqual([2, 2]);
  });

  it('keeps its counts over a restart, and does not count rejected requests', async () => {
    const { counter, restarted, turnTo } = await openWith(SMALL);
    await turnTo(5_000);
    expect(await allowedOf(counter, 9)).toBe(2);
    await turnTo(5_999);
    expect(await restarted().take('acme')).toEqual({ isAllowed: false, remaining: 0, resetS: 1 });
    await turnTo(6_000);
    expect(await allowedOf(restarted(), 9)).toBe(2);
  });

  it('counts the requests of all daemons that share the store together', async () => {
    const { counter, restarted, turnTo } = await openWith({ requestsMax: 50, windowMs: 1_000 });
    await turnTo(5_000);
    const others = [counter, restarted(), restarted()];
    const allowed = await Promise.all(others.map((each) => allowedOf(each, 40)));
    expect(allowed.reduce((sum, each) => sum + each)).toBe(50);
  });

  it('never exceeds the limit if the clock is set back, and rejects requests for at most one window', async () => {
    const { counter, turnTo } = await openWith(SMALL);
    await turnTo(50_000);
    await counter.take('acme');
    await turnTo(50_500);
    await counter.take('acme');
    await turnTo(10_000);
    expect(await counter.take('acme')).toEqual({ isAllowed: false, remaining: 0, resetS: 1 });
    await turnTo(10_999);
    expect(await allowedOf(counter, 1)).toBe(0);
    await turnTo(11_000);
    expect(await allowedOf(counter, 3)).toBe(2);
  });
});
