import type { Database } from '../../database/database.ts';
import { SCHEMA_NAME, statement } from '../../database/statement.ts';
import type { RequestCounter } from './request-counter.ts';
import { ORGANIZATION_RATE, type RatePolicy, type RateVerdict } from './sliding-log.ts';

const TAKE = statement(`
  SELECT used, allowed, reset_us AS "resetUs"
  FROM ${SCHEMA_NAME}.take_requests(:organization, :wanted::int, :requestsMax::int, :windowUs::bigint)`);
const PRUNE = statement(`
  DELETE FROM ${SCHEMA_NAME}.request_times WHERE at_us <= (SELECT ${SCHEMA_NAME}.clock_us() - :windowUs::bigint)`);
const PRUNE_EVERY_MS = 60_000;

/** As the driver reads 64 bits. */
interface Taken {
  readonly used: string;
  readonly allowed: string;
  readonly resetUs: string;
}

type Asked = PromiseWithResolvers<RateVerdict>;

/**
 * Of all daemons on the database, by its clock, under the lock of the organization's row. One call for an organization is under way at
 * a time, and takes for all that came during the one before: many at once neither queue nor use up the connections.
 */
export class PostgresCounter implements RequestCounter {
  readonly policy: RatePolicy;
  readonly #database: Database;
  /** Of organizations with a call under way: who came since. */
  readonly #waiting = new Map<string, Asked[]>();
  #prunedAtMs = Number.NEGATIVE_INFINITY;

  constructor(database: Database, policy = ORGANIZATION_RATE) {
    this.#database = database;
    this.policy = policy;
  }

  take(organization: string): Promise<RateVerdict> {
    const asked: Asked = Promise.withResolvers();
    const waiting = this.#waiting.get(organization);
    if (waiting === undefined) void this.#takeAll(organization, [asked]);
    else waiting.push(asked);
    return asked.promise;
  }

  /** Never rejects: those who asked are told. */
  async #takeAll(organization: string, first: readonly Asked[]): Promise<void> {
    const waiting: Asked[] = [];
    this.#waiting.set(organization, waiting);
    for (let asked = first; asked.length > 0; asked = waiting.splice(0)) {
      try {
        const verdicts = await this.#verdicts(organization, asked.length);
        for (const [at, { resolve }] of asked.entries()) resolve(verdicts(at));
      } catch (error) {
        // Whoever waited would be told the same, later.
        for (const { reject } of [...asked, ...waiting.splice(0)]) reject(error);
      }
    }
    this.#waiting.delete(organization);
    await this.#prune();
  }

  async #verdicts(organization: string, wanted: number): Promise<(at: number) => RateVerdict> {
    const { requestsMax, windowMs } = this.policy;
    const values = { organization, wanted, requestsMax, windowUs: windowMs * 1000 };
    const [taken] = await this.#database.run<Taken>(TAKE, values);
    const [used, allowed, resetUs] = [taken?.used, taken?.allowed, taken?.resetUs].map(Number) as [
      number,
      number,
      number,
    ];
    const resetS = Math.max(1, Math.ceil(resetUs / 1e6));
    return (at) => ({
      isAllowed: at < allowed,
      remaining: Math.max(0, requestsMax - used - Math.min(at + 1, allowed)),
      resetS,
    });
  }

  /** Times that count no more are only in the way: what fails is done by the next. */
  async #prune(): Promise<void> {
    if (performance.now() < this.#prunedAtMs + PRUNE_EVERY_MS) return;
    this.#prunedAtMs = performance.now();
    await this.#database.run(PRUNE, { windowUs: this.policy.windowMs * 1000 }).catch(() => undefined);
  }
}
