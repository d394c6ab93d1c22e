import { DocshelfError, toDocshelfError } from '../../domain/errors.ts';
import type { RequestCounter } from './request-counter.ts';
import type { RatePolicy, RateVerdict } from './sliding-log.ts';

interface GuardedCounterOptions {
  /** What becomes of requests that cannot be counted: open lets them through. */
  readonly onFault: () => 'open' | 'closed';
  /** Told when it begins. */
  readonly tell: (error: unknown) => void;
  readonly answerMsMax?: number;
  readonly now?: () => number;
}

/** A count takes a millisecond or two: one that takes this long does not come. */
const ANSWER_MS_MAX = 2_000;
const ASK_AGAIN_MS = 1_000;

/** A counter that may be away: one request a second finds out whether it still is, the others do not wait for it. */
export class GuardedCounter implements RequestCounter {
  readonly policy: RatePolicy;
  readonly #counter: RequestCounter;
  readonly #options: GuardedCounterOptions;
  readonly #now: () => number;
  /** Null where the last one was counted. */
  #askAgainAtMs: number | null = null;

  constructor(counter: RequestCounter, options: GuardedCounterOptions) {
    this.policy = counter.policy;
    this.#counter = counter;
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  async take(organization: string): Promise<RateVerdict | null> {
    const isOpen = this.#options.onFault() === 'open';
    if (this.#askAgainAtMs === null) return this.#ask(organization, isOpen);
    const isDue = this.#now() >= this.#askAgainAtMs;
    if (isDue) this.#askAgainAtMs = this.#now() + ASK_AGAIN_MS;
    if (!isOpen) {
      if (isDue) return this.#ask(organization, false);
      throw cannotCount();
    }
    // It does not wait, and is counted where it can be.
    if (isDue) void this.#ask(organization, true);
    return null;
  }

  async #ask(organization: string, isOpen: boolean): Promise<RateVerdict | null> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(tooLate()), this.#options.answerMsMax ?? ANSWER_MS_MAX);
    try {
      const verdict = await Promise.race([this.#counter.take(organization), late.promise]);
      this.#askAgainAtMs = null;
      return verdict;
    } catch (error) {
      if (this.#askAgainAtMs === null) this.#options.tell(error);
      this.#askAgainAtMs = this.#now() + ASK_AGAIN_MS;
      if (isOpen) return null;
      throw cannotCount(error);
    } finally {
      clearTimeout(timer);
    }
  }
}

function tooLate(): DocshelfError {
  return new DocshelfError('database_unavailable', 'Cannot count requests: the database does not answer', {
    next: 'Check that PostgreSQL runs and is not overloaded; docshelf goes on by itself.',
  });
}

/** Addresses and the like are for whoever runs the service. */
function cannotCount(cause?: unknown): DocshelfError {
  const { code } = cause === undefined ? { code: 'database_unavailable' as const } : toDocshelfError(cause);
  return new DocshelfError(code, 'Cannot answer now: requests cannot be counted, which limits them', {
    next: 'Ask again in a few seconds; whoever runs this service finds the fault in its log.',
    cause,
    fields: { isForCallers: true },
  });
}
