import { DocshelfError } from '../../domain/errors.ts';
import type { KeyType } from '../../domain/organization.ts';

/** A key made while the service runs: of the key itself the digest alone is kept. */
export interface MadeKey {
  /** `key_` and 16 lower-case hex digits, random. */
  readonly id: string;
  readonly organization: string;
  readonly type: KeyType;
  readonly name: string;
  readonly sha256: string;
  /** RFC 3339, UTC; so is `expiresAt`, null for a key that does not expire. */
  readonly createdAt: string;
  readonly expiresAt: string | null;
}

/** Keys made at run time, of one daemon or of all that share the store (contract, sections 7 and 10). */
export interface KeyStore {
  /** As last read, for the path of requests: another array with each change. Others' changes are in it within 5 s. */
  readonly keys: readonly MadeKey[];
  /** The fault for which `keys` may be old; null where there is none. */
  readonly fault: DocshelfError | null;
  /** Read anew. @throws DocshelfError `cannot_read`, `data_folder_newer`, `database_unavailable` */
  list(): Promise<readonly MadeKey[]>;
  /** @throws DocshelfError as `list`, `too_many_keys`, `cannot_write`; nothing is changed then */
  add(key: MadeKey): Promise<void>;
  /** The key that was there, or null. When it resolves `keys` lacks it. @throws DocshelfError as `list`, `cannot_write` */
  remove(id: string): Promise<MadeKey | null>;
  /** Returns at once; written once a minute at most. @param sha256 of any key, those of the config too */
  noteUse(sha256: string): void;
  /** RFC 3339 by digest. Never rejects: times that cannot be read are left out. */
  lastUses(): Promise<ReadonlyMap<string, string>>;
  /** Writes uses that are not written yet. Never rejects. */
  stop(): Promise<void>;
}

/** Of one store: 3 MB, and a look-up still takes microseconds. */
export const KEYS_MAX = 10_000;

export function tooManyKeys(): DocshelfError {
  return new DocshelfError('too_many_keys', `Cannot make a key: there are ${KEYS_MAX} already`, {
    next: 'Revoke keys that nobody uses; the list says when each was used last.',
  });
}
