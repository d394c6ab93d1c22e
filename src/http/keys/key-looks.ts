import { type DocshelfError, toDocshelfError } from '../../domain/errors.ts';

export interface KeyLooksOptions {
  /** Told when it begins; what was known before holds on. */
  readonly onFault: (error: unknown) => void;
  readonly lookEveryMs?: number | undefined;
}

/** Twice within the 5 s of the contract. */
const LOOK_EVERY_MS = 2_000;

/** Reads a store of keys every while. One at a time with its changes: a read that began before a change must not end after it. */
export class KeyLooks {
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
