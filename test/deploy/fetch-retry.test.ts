import { expect, test } from 'vitest';
import { DocshelfError } from '../../src/domain/errors.ts';
import { RETRY_TOOLS, retry } from '../../src/net/retry.ts';

const NEVER = new AbortController().signal;

function passing(fields: Record<string, unknown> = {}): DocshelfError {
  return new DocshelfError('source_failed', 'Cannot fetch "x": busy', { fields: { retryable: true, ...fields } });
}

/** Fails with these errors in turn, then succeeds. Records the pauses. */
function scene(errors: unknown[], random: () => number) {
  const waits: number[] = [];
  const sleep = async (ms: number): Promise<void> => void waits.push(ms);
  let attempts = 0;
  const attempt = async (): Promise<string> => {
    attempts += 1;
    const error = errors.shift();
    if (error !== undefined) throw error;
    return 'done';
  };
  return { waits, attempt, tools: { sleep, random }, attempts: () => attempts };
}

test('retry() doubles the upper bound of its delay up to 30 s', async () => {
  const { waits, attempt, tools } = scene(
    Array.from({ length: 9 }, () => passing()),
    () => 0.999999,
  );
  expect(await retry(attempt, { retriesMax: 9, signal: NEVER }, tools)).toBe('done');
  expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
});

test('retry() waits a random part of its maximum delay, but at least as long as the source requires, up to 120 s', async () => {
  const errors = [passing(), passing({ retryAfterMs: 7000 }), passing({ retryAfterMs: 3_600_000 })];
  const { waits, attempt, tools } = scene(errors, () => 0.1);
  await retry(attempt, { retriesMax: 3, signal: NEVER }, tools);
  expect(waits).toEqual([50, 7000, 120_000]);
});

test('retry() fails with the last error after retriesMax retries', async () => {
  const last = passing();
  const { attempt, tools, attempts } = scene([passing(), passing(), last], () => 0);
  await expect(retry(attempt, { retriesMax: 2, signal: NEVER }, tools)).rejects.toBe(last);
  expect(attempts()).toBe(3);
});

test('retry() does not repeat a permanent error', async () => {
  const refused = new DocshelfError('link_expired', 'Cannot fetch "x": expired', { fields: { retryable: false } });
  for (const error of [refused, new TypeError('a bug of ours')]) {
    const { attempt, tools, attempts } = scene([error], () => 0);
    await expect(retry(attempt, { retriesMax: 5, signal: NEVER }, tools)).rejects.toMatchObject({
      message: error.message,
    });
    expect(attempts()).toBe(1);
  }
});

test('retry() stops waiting at once if it is aborted', async () => {
  const abort = new AbortController();
  const reason = new Error('stopping');
  const { attempt } = scene([passing({ retryAfterMs: 60_000 })], () => 0);
  setTimeout(() => abort.abort(reason), 20);
  await expect(retry(attempt, { retriesMax: 1, signal: abort.signal }, RETRY_TOOLS)).rejects.toBe(reason);
});
