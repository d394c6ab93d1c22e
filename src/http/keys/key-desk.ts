import { randomBytes } from 'node:crypto';
import { DocshelfError } from '../../domain/errors.ts';
import type { Organization, OrganizationKey } from '../../domain/organization.ts';
import { showName } from '../../domain/secret.ts';
import { badField } from '../read-request.ts';
import type { CreatedKey, ListedKey, NewKey } from './key-schemas.ts';
import { isKey, type KeyStore, type MadeKey, newKey } from './key-store.ts';

export type KeyActions = Pick<KeyDesk, 'list' | 'create' | 'revoke'>;

interface KeyDeskOptions {
  readonly store: Pick<KeyStore, 'list' | 'add' | 'remove' | 'lastUses'>;
  readonly organizations: () => readonly Organization[];
}

const ID_BYTES = 8;

export class KeyDesk {
  readonly #options: KeyDeskOptions;

  constructor(options: KeyDeskOptions) {
    this.#options = options;
  }

  /** Lists the keys of the config and the store. @param organization null for the keys of all organizations */
  async list(organization: string | null): Promise<readonly ListedKey[]> {
    if (organization !== null) this.#require(organization, 'list the keys');
    const [made, uses] = [await this.#options.store.list(), await this.#options.store.lastUses()];
    const configured = this.#options.organizations().flatMap(({ id, keys }) => keys.map((key) => ofConfig(id, key)));
    const newestFirst = made.toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1)).map(ofStore);
    return [...configured, ...newestFirst]
      .filter((each) => organization === null || each.organization === organization)
      .map(({ sha256, ...key }) => ({ ...key, lastUsedAt: uses.get(sha256) ?? null }));
  }

  /**
   * Returns the secret of the created key only once. @throws DocshelfError `not_found`, `bad_request`, and the codes of `KeyStore.add`
   */
  async create({ organization, type, name, expiresAt: wanted = null }: NewKey): Promise<CreatedKey> {
    this.#require(organization, ACT);
    const now = new Date();
    const { key, sha256 } = newKey(type);
    const expiresAt = wanted === null ? null : expiryOf(wanted, now);
    const id = `key_${randomBytes(ID_BYTES).toString('hex')}`;
    const made: MadeKey = { id, organization, type, name, sha256, createdAt: now.toISOString(), expiresAt };
    await this.#options.store.add(made);
    const { sha256: _, ...listed } = ofStore(made);
    return { ...listed, lastUsedAt: null, key };
  }

  /** Revokes a key of the store. @throws DocshelfError `not_found`, `key_of_config`, and the codes of `KeyStore.remove` */
  async revoke(id: string): Promise<ListedKey> {
    if (isKey(id)) {
      throw new DocshelfError('not_found', 'Cannot revoke the key: the request contains the key instead of its ID', {
        next: 'Use the ID of the key from GET /v1/keys. docshelf has not revoked the key.',
      });
    }
    const removed = await this.#options.store.remove(id);
    if (removed !== null) {
      const { sha256, ...key } = ofStore(removed);
      return { ...key, lastUsedAt: (await this.#options.store.lastUses()).get(sha256) ?? null };
    }
    const owner = this.#options.organizations().find(({ keys }) => keys.some((key) => key.id === id));
    if (owner === undefined) {
      throw new DocshelfError('not_found', `Cannot revoke "${showName(id)}": there is no such key`, {
        next: 'Check whether the key was revoked already. GET /v1/keys lists all keys.',
      });
    }
    throw new DocshelfError('key_of_config', `Cannot revoke "${showName(id)}": it is in the config`, {
      next: `Remove the key from the organization "${owner.id}" in the config. docshelf reloads a changed config.`,
    });
  }

  #require(organization: string, act: string): void {
    const ids = this.#options.organizations().map(({ id }) => id);
    if (ids.includes(organization)) return;
    const shown = ids.slice(0, SHOWN_MAX).join(', ');
    throw new DocshelfError('not_found', `Cannot ${act}: there is no organization "${showName(organization)}"`, {
      next: `Use an organization of the config: ${shown}${ids.length > SHOWN_MAX ? ' or others' : ''}.`,
    });
  }
}

const ACT = 'create a key';
const SHOWN_MAX = 20;

function expiryOf(wanted: string, now: Date): string {
  const at = new Date(wanted);
  if (Number.isNaN(at.getTime()) || !isDay(wanted.slice(0, 10)))
    throw badField(ACT, 'expiresAt', 'is not a valid day or time');
  if (at > now) return at.toISOString();
  throw badField(ACT, 'expiresAt', 'is in the past', `The clock of the daemon shows ${now.toISOString()}.`);
}

/** Checks that the day exists, because `Date` reads 30 February as 2 March. @param day date such as `2027-02-30` */
const isDay = (day: string): boolean => new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);

type KeyRow = Omit<ListedKey, 'lastUsedAt'> & { readonly sha256: string };

function ofConfig(organization: string, { id, type, sha256 }: OrganizationKey): KeyRow {
  const none = { createdAt: null, expiresAt: null, expired: false };
  return { id, organization, type, name: id, ...none, readOnly: true, sha256 };
}

function ofStore({ id, organization, type, name, createdAt, expiresAt, sha256 }: MadeKey): KeyRow {
  const expired = isPast(expiresAt);
  return { id, organization, type, name, createdAt, expiresAt, expired, readOnly: false, sha256 };
}

export const isPast = (expiresAt: string | null): boolean => expiresAt !== null && Date.parse(expiresAt) <= Date.now();
