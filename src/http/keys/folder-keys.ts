import { join } from 'node:path';
import { DocshelfError, errnoState, rethrowAs } from '../../domain/errors.ts';
import { KEY_TYPES } from '../../domain/organization.ts';
import { membersOf } from '../../domain/shape.ts';
import { whileLocked } from '../../files/file-lock.ts';
import { ifThere, openNamed, readIfThere, replaceFile } from '../../files/index.ts';
import {
  joinedUses,
  KEYS_MAX,
  KeyStore,
  type KeyStoreOptions,
  type MadeKey,
  tooManyKeys,
  USES_MAX,
  type Uses,
} from './key-store.ts';

const LOCK_MS_MAX = 10_000;
const USES_LOCK_MS_MAX = 1_000;
const FORMAT = 1;

/** Stores the keys and their times of last use in two files, so that writing a time of use cannot restore a revoked key. */
export class FolderKeys extends KeyStore {
  readonly #file: string;
  readonly #usesFile: string;
  readonly #lock: string;
  #identity: string | null = null;

  private constructor(dir: string, options: KeyStoreOptions) {
    super(options);
    this.#file = join(dir, 'keys.json');
    this.#usesFile = join(dir, 'key-uses.json');
    this.#lock = join(dir, 'keys.lock');
  }

  /** Opens the key store even if its file is damaged, and reports the damage. */
  static async open({ dir, ...options }: KeyStoreOptions & { readonly dir: string }): Promise<FolderKeys> {
    const store = new FolderKeys(dir, options);
    await store.begin();
    return store;
  }

  async add(key: MadeKey): Promise<void> {
    await this.#change((keys) => {
      if (keys.length < KEYS_MAX) return [...keys, key];
      throw tooManyKeys();
    });
  }

  async remove(id: string): Promise<MadeKey | null> {
    let removed: MadeKey | null = null;
    await this.#change((keys) => {
      removed = keys.find((key) => key.id === id) ?? null;
      return removed === null ? keys : keys.filter((key) => key !== removed);
    });
    return removed;
  }

  override async stop(): Promise<void> {
    await super.stop();
    // Wait for the current read, because its open file would prevent the unmount of a volume.
    await this.enqueue(async () => undefined);
  }

  #change(edit: (keys: readonly MadeKey[]) => readonly MadeKey[]): Promise<void> {
    return this.enqueue(() =>
      whileLocked(this.#lock, { mode: 'exclusive', waitMsMax: LOCK_MS_MAX }, async () => {
        // Read the key file before each change. Reading a damaged file fails, so docshelf never overwrites it.
        await this.read();
        const keys = edit(this.lastRead);
        if (keys === this.lastRead) return;
        // Make the next read load the file, because its content is unknown if the write fails.
        this.#identity = null;
        await replaceFile(this.#file, `${JSON.stringify({ format: FORMAT, keys }, null, 1)}\n`, 0o600).catch(
          rethrowAs('cannot_write', `change the keys in "${this.#file}"`, CANNOT_WRITE, errnoState),
        );
        this.lastRead = keys;
      }),
    );
  }

  /** Opens the file before `stat`, because on NFS `open` contacts the server, and `stat` alone can return cached values. */
  protected async readKeys(): Promise<void> {
    const refuse = rethrowAs('cannot_read', `read the keys in "${this.#file}"`, CANNOT_READ);
    await using handle = await ifThere(openNamed(this.#file)).catch(refuse);
    const info = await handle?.stat({ bigint: true });
    const identity = info === undefined ? 'none' : `${info.ino} ${info.size} ${info.mtimeNs} ${info.ctimeNs}`;
    if (identity !== this.#identity) {
      this.lastRead = handle === null ? [] : keysOf(this.#file, await handle.readFile('utf8').catch(refuse));
      this.#identity = identity;
    }
  }

  /** Returns the times of last use by key. Skips invalid times instead of failing, because access to the API does not need them. */
  protected async readUses(): Promise<Uses> {
    const members = membersOf<Record<string, string>>(await readIfThere(this.#usesFile));
    const isUse = (pair: [string, unknown]): pair is [string, string] =>
      /^[0-9a-f]{64}$/.test(pair[0]) && typeof pair[1] === 'string';
    return new Map(Object.entries(members).filter(isUse));
  }

  protected async joinUses(uses: Uses): Promise<void> {
    await whileLocked(this.#lock, { mode: 'exclusive', waitMsMax: USES_LOCK_MS_MAX }, async () => {
      const newest = [...joinedUses(await this.readUses(), uses)].sort(([, a], [, b]) => (a < b ? 1 : -1));
      const text = JSON.stringify(Object.fromEntries(newest.slice(0, USES_MAX)), null, 1);
      await replaceFile(this.#usesFile, `${text}\n`, 0o600);
    });
  }
}

const CANNOT_READ = 'Make the file readable for the user that runs docshelf.';
const CANNOT_WRITE = 'Free space on the volume of storage.dir and make the folder writable, then try again.';

/** Parses the key file. @throws DocshelfError `cannot_read` if the file is damaged, `data_folder_newer` */
function keysOf(file: string, text: string): readonly MadeKey[] {
  const { format, keys } = membersOf<{ format: number; keys: unknown[] }>(text);
  if (typeof format === 'number' && format > FORMAT) {
    throw new DocshelfError('data_folder_newer', `Cannot read the keys in "${file}": a newer docshelf wrote them`, {
      next: 'Use the newer docshelf version with this data folder.',
    });
  }
  const damaged = (place: string): DocshelfError =>
    new DocshelfError('cannot_read', `Cannot read the keys in "${file}": the file is damaged (${place})`, {
      next: 'Restore the file from a backup, or move it away and create the keys again. Until then, docshelf cannot create or revoke keys.',
    });
  if (!Array.isArray(keys)) throw damaged('it is not a list of keys');
  const at = keys.findIndex((key) => !isMadeKey(key));
  if (at !== -1) throw damaged(`key ${at + 1} of ${keys.length}`);
  return keys;
}

function isMadeKey(value: unknown): value is MadeKey {
  if (typeof value !== 'object' || value === null) return false;
  const { id, organization, type, name, sha256, createdAt, expiresAt } = value as Partial<MadeKey>;
  const areTexts = [id, organization, name].every((text) => typeof text === 'string' && text !== '');
  const areTimes = [createdAt, expiresAt ?? createdAt].every((time) => !Number.isNaN(Date.parse(String(time))));
  return areTexts && areTimes && KEY_TYPES.some((each) => each === type) && /^[0-9a-f]{64}$/.test(sha256 ?? '');
}
