import { setTimeout as delay } from 'node:timers/promises';
import { DocshelfError, type ErrorCode, toDocshelfError } from '../domain/errors.ts';

export interface RetryTools {
  /** Waits before a retry. Rejects immediately if the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
}

export const RETRY_TOOLS: RetryTools = Object.freeze({
  sleep: (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal }),
  random: Math.random,
});

interface RetryPlan {
  readonly retriesMax: number;
  readonly signal: AbortSignal;
  /** Returns true for an error to retry. Default: true for an error whose field `retryable` is true. */
  readonly mayRetry?: ((error: DocshelfError) => boolean) | undefined;
}

const isRetryable = ({ fields }: DocshelfError): boolean => fields.retryable === true;

const BACKOFF_FIRST_MS = 500;
const BACKOFF_MAX_MS = 30_000;
/** Maximum delay that a Retry-After header can set. A daemon without its bundle cannot serve the site during a longer delay. */
const RETRY_AFTER_MAX_MS = 120_000;

/** Waits a random time up to min(30 s, 0.5 s * 2^n), so that daemons do not retry together. @throws error of the last attempt */
export async function retry<T>(attempt: () => Promise<T>, plan: RetryPlan, tools: RetryTools): Promise<T> {
  const { retriesMax, signal, mayRetry = isRetryable } = plan;
  for (let failures = 0; ; failures += 1) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (caught) {
      signal.throwIfAborted();
      const error = toDocshelfError(caught);
      if (failures >= retriesMax || !mayRetry(error)) throw error;
      const waitMs = waitBeforeRetry(failures, error.fields.retryAfterMs, tools.random);
      // Ignore the rejection of an aborted delay, because the next round throws the reason of the signal.
      await tools.sleep(waitMs, signal).catch(() => undefined);
    }
  }
}

function waitBeforeRetry(failures: number, retryAfterMs: unknown, random: () => number): number {
  const backoffMs = random() * Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** failures);
  const askedMs = typeof retryAfterMs === 'number' ? Math.min(retryAfterMs, RETRY_AFTER_MAX_MS) : 0;
  return Math.round(Math.max(backoffMs, askedMs));
}

/** Error codes that a full volume can cause. Retry them, because docshelf notices only by a retry that space is free again. */
const MAY_END_WITH_SPACE: ReadonlySet<ErrorCode> = new Set(['not_enough_space', 'cannot_write']);

export function isTransient(error: unknown): boolean {
  return error instanceof DocshelfError && (isRetryable(error) || MAY_END_WITH_SPACE.has(error.code));
}

/** Milliseconds of a Retry-After header (RFC 9110, section 10.2.3), without a limit. Null if the header is invalid. */
export function retryAfterOf(text: string | null, nowMs: number): number | null {
  if (text === null) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}
