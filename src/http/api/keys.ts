import { createHash, timingSafeEqual } from 'node:crypto';
import { DocshelfError } from '../../domain/errors.ts';
import { type KeyType, type Organization, type OrganizationKey, SiteDirectory } from '../../domain/organization.ts';
import { bearerToken } from '../bearer.ts';

/** Of one state of the config: a reload swaps a reference. */
export interface Access {
  readonly sites: SiteDirectory;
  readonly keys: KeyRing;
}

export function accessOf(organizations: readonly Organization[]): Access {
  return { sites: new SiteDirectory(organizations), keys: new KeyRing(organizations) };
}

interface StoredKey {
  readonly digest: Buffer;
  readonly key: OrganizationKey;
  readonly organization: Organization;
}

class KeyRing {
  readonly #stored: readonly StoredKey[];

  constructor(organizations: readonly Organization[]) {
    this.#stored = organizations.flatMap((organization) =>
      organization.keys.map((key) => ({ digest: Buffer.from(key.sha256, 'hex'), key, organization })),
    );
  }

  /** By the stored type, not the prefix. @throws DocshelfError `unauthorized`; `forbidden` for another type */
  holder(authorization: string | undefined, wanted: KeyType): Organization {
    const given = bearerToken(authorization);
    if (given === null) {
      throw new DocshelfError('unauthorized', 'Cannot answer: the request carries no key', {
        next: `Send "Authorization: Bearer" and an ${wanted} key.`,
      });
    }
    const found = this.#find(given);
    if (found === null) {
      throw new DocshelfError('unauthorized', 'Cannot answer: the key is not known', {
        next: `Check the key. The config holds the SHA-256 digest of each ${wanted} key.`,
      });
    }
    if (found.key.type === wanted) return found.organization;
    const message = `Cannot answer: the key is of type ${found.key.type}, and this takes ${wanted} keys`;
    throw new DocshelfError('forbidden', message, { next: `Send an ${wanted} key.` });
  }

  /** Compares all, each in constant time. */
  #find(given: string): StoredKey | null {
    const digest = createHash('sha256').update(given).digest();
    let found: StoredKey | null = null;
    for (const stored of this.#stored) if (timingSafeEqual(stored.digest, digest)) found = stored;
    return found;
  }
}
