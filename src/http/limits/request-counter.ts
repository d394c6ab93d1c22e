import type { RatePolicy, RateVerdict } from './sliding-log.ts';

/** Requests of organizations in the last window, of one daemon or of all that share them (contract, sections 5 and 10). */
export interface RequestCounter {
  readonly policy: RatePolicy;
  /** Counts one where it is allowed; null: it is let through uncounted. @throws DocshelfError `database_unavailable` */
  take(organization: string): Promise<RateVerdict | null>;
}
