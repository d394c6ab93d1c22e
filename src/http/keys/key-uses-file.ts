import { membersOf } from '../../domain/shape.ts';
import { whileLocked } from '../../files/file-lock.ts';
import { readIfThere, replaceFile } from '../../files/index.ts';
import { joinedUses, USES_MAX, type UseStore } from './key-uses.ts';

const LOCK_MS_MAX = 1_000;

/** A file beside the keys', so that no write of it, whenever it comes, brings a revoked key back. */
export class KeyUsesFile implements UseStore {
  readonly #file: string;
  readonly #lock: string;

  constructor(file: string, lock: string) {
    this.#file = file;
    this.#lock = lock;
  }

  /** What is damaged is left out: these times guard nothing. */
  async read(): Promise<ReadonlyMap<string, string>> {
    const members = membersOf<Record<string, string>>(await readIfThere(this.#file));
    return new Map(
      Object.entries(members).filter(
        (pair): pair is [string, string] => /^[0-9a-f]{64}$/.test(pair[0]) && typeof pair[1] === 'string',
      ),
    );
  }

  async join(uses: ReadonlyMap<string, string>): Promise<void> {
    await whileLocked(this.#lock, { mode: 'exclusive', waitMsMax: LOCK_MS_MAX }, async () => {
      const newest = [...joinedUses(await this.read(), uses)].sort(([, a], [, b]) => (a < b ? 1 : -1));
      const text = JSON.stringify(Object.fromEntries(newest.slice(0, USES_MAX)), null, 1);
      await replaceFile(this.#file, `${text}\n`, 0o600);
    });
  }
}
