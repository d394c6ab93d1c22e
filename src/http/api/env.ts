import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { DocshelfError } from '../../domain/errors.ts';
import type { Organization, SiteDirectory } from '../../domain/organization.ts';
import type { RateVerdict } from '../limits/sliding-log.ts';

/** Who asks, and what there is, as the config had it when the request came. */
export interface Caller {
  readonly organization: Organization;
  readonly sites: SiteDirectory;
}

/** The bindings are absent where the app is called without a socket; the caller is there behind `requireKey`. */
export type ApiEnv = { Bindings: Partial<HttpBindings>; Variables: { caller: Caller; rate?: RateVerdict } };

/** A path may be as long as all headers may, 16 KiB. */
export const shown = (text: string): string => text.slice(0, 200);

/** Answers a method that a path does not take. */
export function refuseMethod(allow: string): (c: Context<ApiEnv>) => never {
  return (c) => {
    throw new DocshelfError(
      'method_not_allowed',
      `Cannot ${c.req.method} "${shown(c.req.path)}": it answers ${allow}`,
      {
        fields: { allow },
      },
    );
  };
}
