import type { RequestCounter } from './request-counter.ts';
import { ORGANIZATION_RATE, type RatePolicy, type RateVerdict, SlidingLog } from './sliding-log.ts';

export interface RateStore {
  /** Milliseconds since 1970, in any order. Never rejects: unreadable ones are left out and reported. */
  load(organization: string): Promise<readonly number[]>;
  /** Returns at once; written within a second. */
  append(organization: string, timeMs: number): void;
}

/** Corrections of the time of day do not stretch an hour, and times compare over restarts. */
const steadyNowMs = (): number => performance.timeOrigin + performance.now();

/** Of this daemon alone, in memory; never rejects. */
export class LocalCounter implements RequestCounter {
  readonly policy: RatePolicy;
  readonly #store: RateStore;
  readonly #now: () => number;
  readonly #logs = new Map<string, Promise<SlidingLog>>();

  constructor(store: RateStore, { policy = ORGANIZATION_RATE, now = steadyNowMs } = {}) {
    this.policy = policy;
    this.#store = store;
    this.#now = now;
  }

  async take(organization: string): Promise<RateVerdict> {
    let loading = this.#logs.get(organization);
    if (loading === undefined) {
      loading = this.#store.load(organization).then((times) => new SlidingLog(this.policy, times));
      this.#logs.set(organization, loading);
    }
    const log = await loading;
    const nowMs = this.#now();
    const verdict = log.take(nowMs);
    if (verdict.isAllowed) this.#store.append(organization, nowMs);
    return verdict;
  }
}
