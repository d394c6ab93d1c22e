import { createHash, timingSafeEqual } from 'node:crypto';
import { DocshelfError } from '../../domain/errors.ts';
import { type KeyType, type Organization, type OrganizationKey, SiteDirectory } from '../../domain/organization.ts';
import { bearerToken } from '../bearer.ts';
import { isPast } from '../keys/key-desk.ts';
import { isKey } from '../keys/new-key.ts';

/** Of one state of the config: a reload swaps a reference. */
export interface Access {
  readonly sites: SiteDirectory;
  readonly keys: KeyRing;
}

/** @param fault for which keys made at run time may be missing; null where there is none */
export function accessOf(
  organizations: readonly Organization[],
  fault: () => DocshelfError | null = () => null,
): Access {
  return { sites: new SiteDirectory(organizations), keys: new KeyRing(organizations, fault) };
}

export interface HeldKey {
  readonly key: OrganizationKey;
  readonly organization: Organization;
}

interface StoredKey extends HeldKey {
  readonly digest: Buffer;
}

/** Of ten thousand keys about one has another's: what such a group takes longer tells nothing of a key. */
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

  /** By the stored type, not the prefix. @throws DocshelfError `unauthorized`; `forbidden` for another type; that of the store for one that it may have */
  holder(authorization: string | undefined, wanted: KeyType): HeldKey {
    const given = bearerToken(authorization);
    if (given === null) {
      throw new DocshelfError('unauthorized', 'Cannot answer: the request carries no key', {
        next: `Send "Authorization: Bearer" and an ${wanted} key.`,
      });
    }
    const found = this.#find(given);
    if (found === null) {
      const fault = isKey(given) ? this.#fault() : null;
      if (fault !== null) throw cannotTell(fault);
      throw new DocshelfError('unauthorized', 'Cannot answer: the key is not known', {
        next: `Check the key: it may have been revoked. Whoever runs this service makes ${wanted} keys.`,
      });
    }
    const { expiresAt = null, type } = found.key;
    if (isPast(expiresAt)) {
      throw new DocshelfError('unauthorized', `Cannot answer: the key has expired, at ${expiresAt}`, {
        next: `Send another ${wanted} key. Whoever runs this service makes them.`,
      });
    }
    if (type === wanted) return found;
    const message = `Cannot answer: the key is of type ${type}, and this takes ${wanted} keys`;
    throw new DocshelfError('forbidden', message, { next: `Send an ${wanted} key.` });
  }

  /** Compares all that begin alike, each in constant time. */
  #find(given: string): StoredKey | null {
    const digest = createHash('sha256').update(given).digest();
    let found: StoredKey | null = null;
    for (const stored of this.#groups.get(groupOf(digest)) ?? [])
      if (timingSafeEqual(stored.digest, digest)) found = stored;
    return found;
  }
}

/** Of the fault its code alone: addresses and paths are for whoever runs the service. */
function cannotTell({ code }: DocshelfError): DocshelfError {
  return new DocshelfError(code, 'Cannot answer now: the key is not known here, and keys cannot be read anew', {
    next: 'Ask again in a few seconds; whoever runs this service finds the fault in its log.',
    fields: { isForCallers: true },
  });
}
