import type { HttpBindings } from '@hono/node-server';
import type { Organization, SiteDirectory } from '../../domain/organization.ts';
import type { RateVerdict } from '../limits/sliding-log.ts';

/** Who asks, and what there is, as the config had it when the request came. */
export interface Caller {
  readonly organization: Organization;
  readonly sites: SiteDirectory;
}

/** The bindings are absent where the app is called without a socket; the caller is there behind `requireKey`. */
export type ApiEnv = { Bindings: Partial<HttpBindings>; Variables: { caller: Caller; rate?: RateVerdict } };
