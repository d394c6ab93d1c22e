import type { Database } from '../../database/database.ts';
import { SCHEMA_NAME, statement } from '../../database/statement.ts';
import { DocshelfError, toDocshelfError } from '../../domain/errors.ts';
import { ORGANIZATION_RATE, type RatePolicy, type RateVerdict, type RequestCounter } from './organization-rates.ts';

const TAKE = statement(`
  SELECT used, allowed, reset_us AS "resetUs"
  FROM ${SCHEMA_NAME}.take_requests(:organization, :wanted::int, :requestsMax::int, :windowUs::bigint)`);
const PRUNE = statement(`
  DELETE FROM ${SCHEMA_NAME}.request_times WHERE at_us <= (SELECT ${SCHEMA_NAME}.clock_us() - :windowUs::bigint)`);
const PRUNE_EVERY_MS = 60_000;

type Waiting = PromiseWithResolvers<RateVerdict>;

/** Requests that arrive during a database call wait for the next call, which counts them together, so few connections are enough. */
export class PostgresCounter implements RequestCounter {
  readonly policy: RatePolicy;
  readonly #database: Database;
  readonly #waiting = new Map<string, Waiting[]>();
  #prunedAtMs = Number.NEGATIVE_INFINITY;

  constructor(database: Database, policy = ORGANIZATION_RATE) {
    this.#database = database;
    this.policy = policy;
  }

  take(organization: string): Promise<RateVerdict> {
    const request: Waiting = Promise.withResolvers();
    const waiting = this.#waiting.get(organization);
    if (waiting === undefined) void this.#takeAll(organization, request);
    else waiting.push(request);
    return request.promise;
  }

  /** Counts the waiting requests in the database. Never rejects: an error rejects the promises of these requests. */
  async #takeAll(organization: string, first: Waiting): Promise<void> {
    const waiting: Waiting[] = [];
    this.#waiting.set(organization, waiting);
    for (let requests = [first]; requests.length > 0; requests = waiting.splice(0)) {
      try {
        const verdicts = await this.#verdicts(organization, requests.length);
        for (const [at, { resolve }] of requests.entries()) resolve(verdicts(at));
      } catch (error) {
        // Also reject the requests that wait for the next database call, because the database would fail again.
        for (const { reject } of [...requests, ...waiting.splice(0)]) reject(error);
      }
    }
    this.#waiting.delete(organization);
    await this.#prune();
  }

  async #verdicts(organization: string, wanted: number): Promise<(at: number) => RateVerdict> {
    const { requestsMax, windowMs } = this.policy;
    const values = { organization, wanted, requestsMax, windowUs: windowMs * 1000 };
    // The driver returns 64-bit numbers as text.
    const [taken] = await this.#database.run<Record<'used' | 'allowed' | 'resetUs', string>>(TAKE, values);
    const [used, allowed] = [Number(taken?.used), Number(taken?.allowed)];
    const resetS = Math.max(1, Math.ceil(Number(taken?.resetUs) / 1e6));
    return (at) => ({
      isAllowed: at < allowed,
      remaining: Math.max(0, requestsMax - used - Math.min(at + 1, allowed)),
      resetS,
    });
  }

  async #prune(): Promise<void> {
    if (performance.now() < this.#prunedAtMs + PRUNE_EVERY_MS) return;
    this.#prunedAtMs = performance.now();
    await this.#database.run(PRUNE, { windowUs: this.policy.windowMs * 1000 }).catch(() => undefined);
  }
}

interface GuardedCounterOptions {
  /** Returns how to treat requests that docshelf cannot count: `open` allows them, and `closed` rejects them. */
  readonly onFault: () => 'open' | 'closed';
  readonly report: (error: unknown) => void;
}

const ANSWER_MS_MAX = 2_000;
const RETRY_MS = 1_000;

/**
 * After a failure, sends only one request per second to the database counter. For all requests in between, applies `onFault` at
 * once.
 */
export class GuardedCounter implements RequestCounter {
  readonly policy: RatePolicy;
  readonly #counter: RequestCounter;
  readonly #options: GuardedCounterOptions;
  #retryAtMs: number | null = null;

  constructor(counter: RequestCounter, options: GuardedCounterOptions) {
    this.policy = counter.policy;
    this.#counter = counter;
    this.#options = options;
  }

  async take(organization: string): Promise<RateVerdict | null> {
    const isOpen = this.#options.onFault() === 'open';
    if (this.#retryAtMs === null) return this.#try(organization, isOpen);
    const isDue = performance.now() >= this.#retryAtMs;
    if (isDue) this.#retryAtMs = performance.now() + RETRY_MS;
    if (!isOpen) {
      if (isDue) return this.#try(organization, false);
      throw cannotCount();
    }
    if (isDue) void this.#try(organization, true);
    return null;
  }

  async #try(organization: string, isOpen: boolean): Promise<RateVerdict | null> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(tooLate()), ANSWER_MS_MAX);
    try {
      const verdict = await Promise.race([this.#counter.take(organization), late.promise]);
      this.#retryAtMs = null;
      return verdict;
    } catch (error) {
      if (this.#retryAtMs === null) this.#options.report(error);
      this.#retryAtMs = performance.now() + RETRY_MS;
      if (isOpen) return null;
      throw cannotCount(error);
    } finally {
      clearTimeout(timer);
    }
  }
}

function tooLate(): DocshelfError {
  return new DocshelfError('database_unavailable', 'Cannot count requests: the database does not respond', {
    next: 'Check that PostgreSQL runs and is not overloaded. docshelf retries automatically.',
  });
}

/** Omits the message of the cause, because it can contain the address of the database, which only the operator may see. */
function cannotCount(cause?: unknown): DocshelfError {
  const { code } = cause === undefined ? { code: 'database_unavailable' as const } : toDocshelfError(cause);
  return new DocshelfError(code, 'Cannot process the request now: docshelf cannot count requests for the rate limit', {
    next: 'Try again in a few seconds. The operator of this service finds the error in its log.',
    cause,
    fields: { isForCallers: true },
  });
}
