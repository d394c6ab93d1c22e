import { createHash, randomBytes } from 'node:crypto';
import { DocshelfError, toDocshelfError } from '../../domain/errors.ts';
import type { KeyType } from '../../domain/organization.ts';

/** Prefix of an API key, which shows people its type. docshelf itself uses the stored type. */
const PREFIX: Readonly<Record<KeyType, string>> = { admin: 'svc_', assistant: 'svc_dsc_' };
const KEY_BYTES = 32;

export function newKey(type: KeyType): { readonly key: string; readonly sha256: string } {
  const key = `${PREFIX[type]}${randomBytes(KEY_BYTES).toString('base64url')}`;
  return { key, sha256: createHash('sha256').update(key).digest('hex') };
}

/** Checks whether a text is an API key instead of the id of a key. Callers must not print an API key. */
export const isKey = (text: string): boolean => /^svc_(?:dsc_)?[A-Za-z0-9_-]{43}$/.test(text);

/** API key created at run time. docshelf stores only its digest. */
export interface MadeKey {
  /** Id of the key: `key_` and 16 random lower-case hex digits. */
  readonly id: string;
  readonly organization: string;
  readonly type: KeyType;
  readonly name: string;
  readonly sha256: string;
  /** Times in RFC 3339 and in UTC. `expiresAt` is null for a key that does not expire. */
  readonly createdAt: string;
  readonly expiresAt: string | null;
}

/** Maximum API keys. This number of keys takes 3 MB of memory, and a look-up takes microseconds. */
export const KEYS_MAX = 10_000;
/** Maximum number of API keys whose time of last use is stored, 100 bytes each. */
export const USES_MAX = 20_000;

/** Interval at which docshelf reads stored keys. Two reads fit into 5 s, within which a change by another daemon must apply. */
const READ_EVERY_MS = 2_000;
const WRITE_USES_EVERY_MS = 60_000;

export interface KeyStoreOptions {
  /** Called for the first of consecutive errors of the same kind. After an error, the last successfully read keys stay valid. */
  readonly onFault: (error: unknown) => void;
  readonly readEveryMs?: number | undefined;
  readonly usesEveryMs?: number | undefined;
}

export type Uses = ReadonlyMap<string, string>;

export abstract class KeyStore {
  protected lastRead: readonly MadeKey[] = [];
  readonly #options: KeyStoreOptions;
  #fault: DocshelfError | null = null;
  #queue: Promise<unknown> = Promise.resolve();
  #nextRead: NodeJS.Timeout | null = null;
  #isStopped = false;
  readonly #pendingUses = new Map<string, string>();
  #nextWrite: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();
  #hasReportedUses = false;

  protected constructor(options: KeyStoreOptions) {
    this.#options = options;
  }

  /** Keys of the last read, as a new array after each change. Changes of other daemons appear within 5 s. */
  get keys(): readonly MadeKey[] {
    return this.lastRead;
  }

  /** Adds a key. After an error, the store is unchanged. @throws DocshelfError `too_many_keys`, `cannot_write`, and the codes of `list` */
  abstract add(key: MadeKey): Promise<void>;
  /** Removes a key and returns it. Null if the key does not exist. @throws DocshelfError `cannot_write`, and the codes of `list` */
  abstract remove(id: string): Promise<MadeKey | null>;
  protected abstract readKeys(): Promise<void>;
  protected abstract readUses(): Promise<Uses>;
  /** Merges times of last use into the stored ones. Keeps the later time of each key, and only the latest `USES_MAX` times. */
  protected abstract joinUses(uses: Uses): Promise<void>;

  get fault(): DocshelfError | null {
    return this.#fault;
  }

  /** Reads the keys from the file or the database. @throws DocshelfError `cannot_read`, `data_folder_newer`, `database_unavailable` */
  async list(): Promise<readonly MadeKey[]> {
    await this.enqueue(() => this.read());
    return this.keys;
  }

  protected async begin(): Promise<void> {
    await this.list().catch((cause: unknown) => {
      const fault = toDocshelfError(cause);
      if (this.#fault?.code !== fault.code && !this.#isStopped) this.#options.onFault(fault);
      this.#fault = fault;
    });
    if (this.#isStopped) return;
    this.#nextRead = setTimeout(() => void this.begin(), this.#options.readEveryMs ?? READ_EVERY_MS).unref();
  }

  protected async read(): Promise<void> {
    await this.readKeys();
    this.#fault = null;
  }

  /** Runs reads and changes one after the other, so that a read that began before a change cannot end after it. */
  protected enqueue<Result>(act: () => Promise<Result>): Promise<Result> {
    const result = this.#queue.then(act);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  /** Records that a client has used a key. @param sha256 digest of any key, including keys of the config */
  noteUse(sha256: string): void {
    this.#pendingUses.set(sha256, new Date().toISOString());
    this.#nextWrite ??= setTimeout(
      () => void this.#flushUses(),
      this.#options.usesEveryMs ?? WRITE_USES_EVERY_MS,
    ).unref();
  }

  /** Returns the times of last use. Never rejects: if the stored times cannot be read, the result contains only times in memory. */
  async lastUses(): Promise<Uses> {
    const written = await this.readUses().catch(() => new Map<string, string>());
    return joinedUses(written, this.#pendingUses);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#nextRead !== null) clearTimeout(this.#nextRead);
    await this.#flushUses();
  }

  #flushUses(): Promise<void> {
    if (this.#nextWrite !== null) clearTimeout(this.#nextWrite);
    this.#nextWrite = null;
    this.#writing = this.#writing.then(() => this.#writeUses());
    return this.#writing;
  }

  async #writeUses(): Promise<void> {
    if (this.#pendingUses.size === 0) return;
    const uses = new Map(this.#pendingUses);
    try {
      await this.joinUses(uses);
      for (const [sha256, time] of uses) if (this.#pendingUses.get(sha256) === time) this.#pendingUses.delete(sha256);
      this.#hasReportedUses = false;
    } catch (error) {
      if (!this.#hasReportedUses) this.#options.onFault(error);
      this.#hasReportedUses = true;
    }
  }
}

export function joinedUses(one: Uses, other: Uses): Map<string, string> {
  const uses = new Map(one);
  for (const [sha256, time] of other) if (time > (uses.get(sha256) ?? '')) uses.set(sha256, time);
  return uses;
}

export function tooManyKeys(): DocshelfError {
  return new DocshelfError('too_many_keys', `Cannot create a key: the maximum of ${KEYS_MAX} keys is reached`, {
    next: 'Revoke unused keys. The list shows the last use of each key.',
  });
}
