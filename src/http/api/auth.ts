import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';
import { DocshelfError } from '../../domain/errors.ts';
import { EXPORTING_PLAN, type KeyType, type OwnedSite, type SiteDirectory } from '../../domain/organization.ts';
import type { RateVerdict } from '../limits/organization-rates.ts';
import { shown } from '../routes.ts';
import type { Access, HeldKey } from './keys.ts';

interface Caller extends HeldKey {
  readonly sites: SiteDirectory;
}

/** The bindings are absent where the app is called without a socket; the caller is there behind `requireKey`. */
export type ApiEnv = { Bindings: Partial<HttpBindings>; Variables: { caller: Caller; rate?: RateVerdict } };

export interface KeyChecks {
  readonly access: () => Access;
  /** Of a key that was admitted. */
  readonly onKeyUse?: (sha256: string) => void;
}

/** The key's organization becomes the caller. First, so that strangers learn nothing of domains and jobs. */
export function requireKey({ access, onKeyUse }: KeyChecks, wanted: KeyType): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const { keys, sites } = access();
    const { organization, key } = keys.holder(c.req.header('authorization'), wanted);
    onKeyUse?.(key.sha256);
    c.set('caller', { organization, key, sites });
    await next();
  };
}

export const requireExportPlan: MiddlewareHandler<ApiEnv> = async (c, next) => {
  const { id, plan } = c.var.caller.organization;
  if (plan !== EXPORTING_PLAN) {
    throw new DocshelfError('forbidden', `Cannot export for "${id}": its plan has no static exports`, {
      next: `Static exports are part of the plan ${EXPORTING_PLAN}.`,
    });
  }
  await next();
};

/** Another's site looks like one that nobody has. @throws DocshelfError `not_found` */
export function ownSite(c: Context<ApiEnv>, act: string, name: string): OwnedSite {
  const { organization, sites } = c.var.caller;
  const site = sites.find(name);
  if (site === null || site.organization.id !== organization.id) throw noSuchDomain(act, name);
  return site;
}

export function noSuchDomain(act: string, name: string): DocshelfError {
  return new DocshelfError('not_found', `Cannot ${act} "${shown(name)}": there is no such domain`, {
    next: 'Name a domain of the organization that the key belongs to, by its label or by one of its hosts.',
  });
}
