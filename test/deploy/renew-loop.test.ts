import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RenewLoop } from '../../src/deploy/fetch/renew-loop.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A loop whose rounds note when they began, in hours from now. */
function loopOf(round: () => Promise<'done' | 'failed for now'>, random = 0) {
  const startMs = Date.now();
  const begun: number[] = [];
  const loop = new RenewLoop(
    () => {
      begun.push((Date.now() - startMs) / HOUR_MS);
      return round();
    },
    () => random,
  );
  return { loop, begun };
}

test('rounds come one interval after the start and after each other, up to a tenth later', async () => {
  for (const [random, hours] of [
    [0, [1, 2, 3]],
    [1, [1.1, 2.2]],
  ] as const) {
    const { loop, begun } = loopOf(async () => 'done', random);
    loop.use(HOUR_MS);
    await vi.advanceTimersByTimeAsync(3.2 * HOUR_MS);
    expect(begun.map((at) => Number(at.toFixed(6)))).toEqual(hours);
    loop.stop();
  }
});

test('a round that takes longer than the interval is not joined by a second one', async () => {
  const rounds: ((outcome: 'done') => void)[] = [];
  const { loop, begun } = loopOf(() => new Promise((resolve) => rounds.push(resolve)));
  loop.use(HOUR_MS);
  await vi.advanceTimersByTimeAsync(10 * HOUR_MS);
  expect(begun).toEqual([1]);
  rounds[0]?.('done');
  await vi.advanceTimersByTimeAsync(HOUR_MS);
  expect(begun).toEqual([1, 11]);
});

test('a round that failed for now is repeated after ten minutes, or the interval where that is shorter', async () => {
  const { loop, begun } = loopOf(async () => 'failed for now');
  loop.use(DAY_MS);
  await vi.advanceTimersByTimeAsync(DAY_MS + 0.5 * HOUR_MS);
  expect(begun.map((at) => Math.round(60 * (at - 24)))).toEqual([0, 10, 20, 30]);
  const short = loopOf(async () => 'failed for now');
  short.loop.use(60_000);
  await vi.advanceTimersByTimeAsync(180_000);
  expect(short.begun).toHaveLength(3);
});

test('thirty days are waited, which no single timer can', async () => {
  const { loop, begun } = loopOf(async () => 'done');
  loop.use(30 * DAY_MS);
  await vi.advanceTimersByTimeAsync(29.9 * DAY_MS);
  expect(begun).toEqual([]);
  await vi.advanceTimersByTimeAsync(0.2 * DAY_MS);
  expect(begun).toEqual([720]);
});

test('use() of another interval begins anew, of the same one goes on, of none ends, in a round too', async () => {
  let end: (outcome: 'done') => void = () => undefined;
  const { loop, begun } = loopOf(() => new Promise((resolve) => (end = resolve)));
  loop.use(HOUR_MS);
  await vi.advanceTimersByTimeAsync(0.5 * HOUR_MS);
  loop.use(HOUR_MS);
  await vi.advanceTimersByTimeAsync(0.5 * HOUR_MS);
  expect(begun).toEqual([1]);
  loop.use(2 * HOUR_MS);
  end('done');
  await vi.advanceTimersByTimeAsync(1.5 * HOUR_MS);
  expect(begun).toEqual([1]);
  await vi.advanceTimersByTimeAsync(0.5 * HOUR_MS);
  expect(begun).toEqual([1, 3]);
  loop.use(null);
  end('done');
  await vi.advanceTimersByTimeAsync(9 * HOUR_MS);
  expect(begun).toEqual([1, 3]);
});
