import { DocshelfError } from '../../domain/errors.ts';
import { ORGANIZATION_RATE, type RatePolicy, type RateVerdict, SlidingLog } from './sliding-log.ts';

export interface RateStore {
  /** Milliseconds since 1970, in any order. Never rejects: unreadable ones are left out and reported. */
  load(organization: string): Promise<readonly number[]>;
  /** Returns at once; written within a second. */
  append(organization: string, timeMs: number): void;
}

/** Corrections of the time of day do not stretch an hour, and times compare over restarts. */
const steadyNowMs = (): number => performance.timeOrigin + performance.now();

export class OrganizationRates {
  readonly #store: RateStore;
  readonly #policy: RatePolicy;
  readonly #now: () => number;
  readonly #logs = new Map<string, Promise<SlidingLog>>();

  constructor(store: RateStore, { policy = ORGANIZATION_RATE, now = steadyNowMs } = {}) {
    this.#store = store;
    this.#policy = policy;
    this.#now = now;
  }

  async take(organization: string): Promise<RateVerdict> {
    let loading = this.#logs.get(organization);
    if (loading === undefined) {
      loading = this.#store.load(organization).then((times) => new SlidingLog(this.#policy, times));
      this.#logs.set(organization, loading);
    }
    const log = await loading;
    const nowMs = this.#now();
    const verdict = log.take(nowMs);
    if (verdict.isAllowed) this.#store.append(organization, nowMs);
    return verdict;
  }

  /** draft-ietf-httpapi-ratelimit-headers-10. */
  headers({ remaining, resetS }: RateVerdict): Readonly<Record<'RateLimit' | 'RateLimit-Policy', string>> {
    const { requestsMax, windowMs } = this.#policy;
    return {
      'RateLimit-Policy': `"hour";q=${requestsMax};w=${windowMs / 1000}`,
      RateLimit: `"hour";r=${remaining};t=${resetS}`,
    };
  }

  fault({ resetS }: RateVerdict): DocshelfError {
    const { requestsMax } = this.#policy;
    const message = `Cannot answer now: the organization has made ${requestsMax} requests within the last hour`;
    return new DocshelfError('rate_limited', message, {
      next: `Ask again in ${resetS} s.`,
      fields: { retryAfterS: resetS },
    });
  }
}
