import { DocshelfError } from '../../domain/errors.ts';
import { counted } from '../../domain/text.ts';

export interface RatePolicy {
  readonly requestsMax: number;
  readonly windowMs: number;
}

export const ORGANIZATION_RATE: RatePolicy = Object.freeze({ requestsMax: 10_000, windowMs: 3600_000 });

export interface RateVerdict {
  readonly isAllowed: boolean;
  readonly remaining: number;
  /** Seconds until the oldest counted request leaves the window of the rate limit, rounded up. */
  readonly resetS: number;
}

export interface RequestCounter {
  readonly policy: RatePolicy;
  /**
   * Returns whether the rate limit allows a request, and counts it. Null if docshelf cannot count the request, but allows it.
   * @throws DocshelfError `database_unavailable`
   */
  take(organization: string): Promise<RateVerdict | null>;
}

/** Response headers that report the rate limit (draft-ietf-httpapi-ratelimit-headers-10). */
export function rateHeaders({ requestsMax, windowMs }: RatePolicy, { remaining, resetS }: RateVerdict) {
  return {
    'RateLimit-Policy': `"hour";q=${requestsMax};w=${windowMs / 1000}`,
    RateLimit: `"hour";r=${remaining};t=${resetS}`,
  };
}

export function rateFault({ requestsMax }: RatePolicy, { resetS }: RateVerdict): DocshelfError {
  const message = `Cannot process the request now: the organization has sent ${counted(requestsMax, 'request')} within the last hour`;
  return new DocshelfError('rate_limited', message, {
    next: `Try again in ${resetS} s.`,
    fields: { retryAfterS: resetS },
  });
}
