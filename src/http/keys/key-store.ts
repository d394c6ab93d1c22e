import { createHash, randomBytes } from 'node:crypto';
import { DocshelfError, toDocshelfError } from '../../domain/errors.ts';
import type { KeyType } from '../../domain/organization.ts';

/** Contract, section 7. The stored type decides; the prefix is for people. */
const PREFIX: Readonly<Record<KeyType, string>> = { admin: 'svc_', assistant: 'svc_dsc_' };
const KEY_BYTES = 32;

export function newKey(type: KeyType): { readonly key: string; readonly sha256: string } {
  const key = `${PREFIX[type]}${randomBytes(KEY_BYTES).toString('base64url')}`;
  return { key, sha256: createHash('sha256').update(key).digest('hex') };
}

/** One that somebody has put where its id belongs: it is said nowhere. */
export function isKey(text: string): boolean {
  return /^svc_(?:dsc_)?[A-Za-z0-9_-]{43}$/.test(text);
}

interface KeyLooksOptions {
  /** Told when it begins; what was known before holds on. */
  readonly onFault: (error: unknown) => void;
  readonly lookEveryMs?: number | undefined;
}

/** Twice within the 5 s of the contract. */
const LOOK_EVERY_MS = 2_000;

/** Reads a store of keys every while. One at a time with its changes: a read that began before a change must not end after it. */
class KeyLooks {
  readonly #read: () => Promise<void>;
  readonly #options: KeyLooksOptions;
  #fault: DocshelfError | null = null;
  #turns: Promise<unknown> = Promise.resolve();
  #next: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(read: () => Promise<void>, options: KeyLooksOptions) {
    this.#read = read;
    this.#options = options;
  }

  /** Of the last read; null where it went well. */
  get fault(): DocshelfError | null {
    return this.#fault;
  }

  /** Resolves after the first read. Never rejects. */
  async begin(): Promise<void> {
    await this.turn(() => this.read()).catch((cause: unknown) => {
      const fault = toDocshelfError(cause);
      if (this.#fault?.code !== fault.code && !this.#isStopped) this.#options.onFault(fault);
      this.#fault = fault;
    });
    if (this.#isStopped) return;
    this.#next = setTimeout(() => void this.begin(), this.#options.lookEveryMs ?? LOOK_EVERY_MS).unref();
  }

  /** For within a turn. */
  async read(): Promise<void> {
    await this.#read();
    this.#fault = null;
  }

  turn<Result>(act: () => Promise<Result>): Promise<Result> {
    const turn = this.#turns.then(act);
    this.#turns = turn.catch(() => undefined);
    return turn;
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#next !== null) clearTimeout(this.#next);
  }

  /** Resolves when no read or change is under way. */
  async idle(): Promise<void> {
    await this.#turns;
  }
}

/** When each key was used last, RFC 3339 by digest. */
export interface UseStore {
  read(): Promise<ReadonlyMap<string, string>>;
  /** Of two times the later one stays; of all the newest `USES_MAX`. */
  join(uses: ReadonlyMap<string, string>): Promise<void>;
}

interface KeyUsesOptions {
  readonly store: UseStore;
  /** Told once; times stay in memory, and are written with the next use. */
  readonly onFault: (error: unknown) => void;
  readonly everyMs?: number | undefined;
}

const EVERY_MS = 60_000;
/** 100 bytes each. */
export const USES_MAX = 20_000;

/** Uses as they come, written once in a while. */
class KeyUses {
  readonly #options: KeyUsesOptions;
  readonly #pending = new Map<string, string>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();
  #hasTold = false;

  constructor(options: KeyUsesOptions) {
    this.#options = options;
  }

  note(sha256: string): void {
    this.#pending.set(sha256, new Date().toISOString());
    this.#timer ??= setTimeout(() => void this.flush(), this.#options.everyMs ?? EVERY_MS).unref();
  }

  async all(): Promise<ReadonlyMap<string, string>> {
    const written = await this.#options.store.read().catch(() => new Map<string, string>());
    return joinedUses(written, this.#pending);
  }

  flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    if (this.#pending.size === 0) return;
    const uses = new Map(this.#pending);
    try {
      await this.#options.store.join(uses);
      for (const [sha256, time] of uses) if (this.#pending.get(sha256) === time) this.#pending.delete(sha256);
      this.#hasTold = false;
    } catch (error) {
      if (!this.#hasTold) this.#options.onFault(error);
      this.#hasTold = true;
    }
  }
}

export function joinedUses(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): Map<string, string> {
  const uses = new Map(one);
  for (const [sha256, time] of other) if (time > (uses.get(sha256) ?? '')) uses.set(sha256, time);
  return uses;
}

export interface LookedKeysOptions extends KeyLooksOptions {
  readonly usesEveryMs?: number;
}

/** Keys in a store that others change too: as last read, with their uses. */
export abstract class LookedKeys implements KeyStore {
  protected readonly looks: KeyLooks;
  readonly #uses: KeyUses;

  protected constructor(uses: UseStore, { usesEveryMs, ...looks }: LookedKeysOptions) {
    this.looks = new KeyLooks(() => this.read(), looks);
    this.#uses = new KeyUses({ store: uses, onFault: looks.onFault, everyMs: usesEveryMs });
  }

  abstract get keys(): readonly MadeKey[];
  abstract add(key: MadeKey): Promise<void>;
  abstract remove(id: string): Promise<MadeKey | null>;
  /** Brings `keys` up to date. @throws as `KeyStore.list` */
  protected abstract read(): Promise<void>;

  get fault(): DocshelfError | null {
    return this.looks.fault;
  }

  async list(): Promise<readonly MadeKey[]> {
    await this.looks.turn(() => this.looks.read());
    return this.keys;
  }

  noteUse(sha256: string): void {
    this.#uses.note(sha256);
  }

  lastUses(): Promise<ReadonlyMap<string, string>> {
    return this.#uses.all();
  }

  async stop(): Promise<void> {
    this.looks.stop();
    await this.#uses.flush();
  }
}

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
