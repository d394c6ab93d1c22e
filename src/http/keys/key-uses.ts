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
