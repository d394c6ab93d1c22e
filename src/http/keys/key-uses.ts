import { membersOf } from '../../domain/shape.ts';
import { whileLocked } from '../../files/file-lock.ts';
import { readIfThere, replaceFile } from '../../files/index.ts';

interface KeyUsesOptions {
  readonly file: string;
  readonly lock: string;
  /** Told once; times stay in memory, and are written with the next use. */
  readonly onFault: (error: unknown) => void;
  readonly everyMs?: number | undefined;
}

const EVERY_MS = 60_000;
const LOCK_MS_MAX = 1_000;
/** The newest: 100 bytes each. */
const USES_MAX = 20_000;

/**
 * When each key was used last, in a file beside the keys': joined by the later time, so that no write of it, whenever it
 * comes, brings a revoked key back.
 */
export class KeyUses {
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
    const written = await this.#read().catch(() => new Map<string, string>());
    return joined(written, this.#pending);
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
      await whileLocked(this.#options.lock, { mode: 'exclusive', waitMsMax: LOCK_MS_MAX }, async () => {
        const newest = [...joined(await this.#read(), uses)].sort(([, a], [, b]) => (a < b ? 1 : -1));
        const text = JSON.stringify(Object.fromEntries(newest.slice(0, USES_MAX)), null, 1);
        await replaceFile(this.#options.file, `${text}\n`, 0o600);
      });
      for (const [sha256, time] of uses) if (this.#pending.get(sha256) === time) this.#pending.delete(sha256);
      this.#hasTold = false;
    } catch (error) {
      if (!this.#hasTold) this.#options.onFault(error);
      this.#hasTold = true;
    }
  }

  /** What is damaged is left out: these times guard nothing. */
  async #read(): Promise<Map<string, string>> {
    const members = membersOf<Record<string, string>>(await readIfThere(this.#options.file));
    return new Map(
      Object.entries(members).filter(
        (pair): pair is [string, string] => /^[0-9a-f]{64}$/.test(pair[0]) && typeof pair[1] === 'string',
      ),
    );
  }
}

function joined(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): Map<string, string> {
  const uses = new Map(one);
  for (const [sha256, time] of other) if (time > (uses.get(sha256) ?? '')) uses.set(sha256, time);
  return uses;
}
