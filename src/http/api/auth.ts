import { createHash, timingSafeEqual } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';
import { DocshelfError } from '../../domain/errors.ts';
import {
  EXPORTING_PLAN,
  type KeyType,
  type Organization,
  type OrganizationKey,
  type OwnedSite,
  SiteDirectory,
} from '../../domain/organization.ts';
import { bearerToken } from '../bearer.ts';
import { isPast } from '../keys/key-desk.ts';
import { isKey } from '../keys/key-store.ts';
import type { RateVerdict } from '../limits/organization-rates.ts';
import { shown } from '../routes.ts';

export interface Access {
  readonly sites: SiteDirectory;
  readonly keys: KeyRing;
}

/** Indexes the sites and keys of organizations. @param fault function that returns the last error of reading stored keys, or null */
export function accessOf(
  organizations: readonly Organization[],
  fault: () => DocshelfError | null = () => null,
): Access {
  return { sites: new SiteDirectory(organizations), keys: new KeyRing(organizations, fault) };
}

interface HeldKey {
  readonly key: OrganizationKey;
  readonly organization: Organization;
}

interface StoredKey extends HeldKey {
  readonly digest: Buffer;
}

/**
 * Number of leading digest bytes by which keys are grouped for the look-up. With 2 bytes, most of 10,000 keys have their own group.
 */
const GROUP_BYTES = 2;
const groupOf = (digest: Buffer): string => digest.toString('latin1', 0, GROUP_BYTES);

class KeyRing {
  readonly #groups: ReadonlyMap<string, readonly StoredKey[]>;

  readonly #fault: () => DocshelfError | null;

  constructor(organizations: readonly Organization[], fault: () => DocshelfError | null) {
    this.#fault = fault;
    const stored = organizations.flatMap((organization) =>
      organization.keys.map((key) => ({ digest: Buffer.from(key.sha256, 'hex'), key, organization })),
    );
    this.#groups = Map.groupBy(stored, ({ digest }) => groupOf(digest));
  }

  /**
   * Returns the API key of a request with its organization. Checks the stored type of the key, not its prefix. @throws DocshelfError
   * `unauthorized`, `forbidden`, and the codes of `KeyStore.list`
   */
  holder(authorization: string | undefined, wanted: KeyType): HeldKey {
    const given = bearerToken(authorization);
    if (given === null) {
      throw new DocshelfError('unauthorized', 'Cannot authorize the request: it has no API key', {
        next: `Send the header "Authorization: Bearer" with an ${wanted} key.`,
      });
    }
    const found = this.#find(given);
    if (found === null) {
      const fault = isKey(given) ? this.#fault() : null;
      if (fault !== null) throw cannotTell(fault);
      throw new DocshelfError('unauthorized', 'Cannot authorize the request: the API key is unknown', {
        next: `Check whether the key was revoked. The operator of this service can create an ${wanted} key.`,
      });
    }
    const { expiresAt = null, type } = found.key;
    if (isPast(expiresAt)) {
      throw new DocshelfError('unauthorized', `Cannot authorize the request: the API key expired at ${expiresAt}`, {
        next: `Send another ${wanted} key. The operator of this service can create one.`,
      });
    }
    if (type === wanted) return found;
    const message = `Cannot authorize the request: the API key has the type ${type}, and this call needs the type ${wanted}`;
    throw new DocshelfError('forbidden', message, { next: `Send an ${wanted} key.` });
  }

  #find(given: string): StoredKey | null {
    const digest = createHash('sha256').update(given).digest();
    let found: StoredKey | null = null;
    for (const stored of this.#groups.get(groupOf(digest)) ?? [])
      if (timingSafeEqual(stored.digest, digest)) found = stored;
    return found;
  }
}

/** Keeps only the code of an error of the key store, because clients must not see addresses and paths. */
function cannotTell({ code }: DocshelfError): DocshelfError {
  return new DocshelfError(
    code,
    'Cannot authorize the request now: the API key is not loaded, and docshelf cannot read the stored keys',
    {
      next: 'Try again in a few seconds. The operator of this service finds the error in its log.',
      fields: { isForCallers: true },
    },
  );
}

export type ApiEnv = {
  Bindings: Partial<HttpBindings>;
  Variables: { caller: HeldKey & { readonly sites: SiteDirectory }; rate?: RateVerdict };
};

export interface KeyChecks {
  readonly access: () => Access;
  readonly onKeyUse?: (sha256: string) => void;
}

/** Requires an API key. Runs before all other checks, so that clients without a key learn nothing about domains and jobs. */
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
    throw new DocshelfError('forbidden', `Cannot export for "${id}": its plan does not include static exports`, {
      next: `Use an organization with the plan ${EXPORTING_PLAN}.`,
    });
  }
  await next();
};

/** Returns a site. Treats a site of another organization like a missing site. @throws DocshelfError `not_found` */
export function ownSite(c: Context<ApiEnv>, act: string, name: string): OwnedSite {
  const { organization, sites } = c.var.caller;
  const site = sites.find(name);
  if (site === null || site.organization.id !== organization.id) throw noSuchDomain(act, name);
  return site;
}

export function noSuchDomain(act: string, name: string): DocshelfError {
  return new DocshelfError('not_found', `Cannot ${act} "${shown(name)}": there is no such domain`, {
    next: 'Use the label or a host name of a domain that belongs to the organization of the key.',
  });
}
