interface Measured {
  processorMs(): Promise<number | null>;
}

/** A busy machine gets so many times as long by the clock: also for work that does not use a processor. */
const CLOCK_FACTOR = 10;
const LOOKS = 10;

/** Ends work by the processor time that it takes: a clock would end what only waits for its turn on a busy machine. */
export class ProcessorLimit implements Disposable {
  readonly #thread: Measured;
  readonly #msMax: number;
  readonly #onOver: () => void;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  /** @param onOver is called once, in the middle of the work */
  constructor(thread: Measured, msMax: number, onOver: () => void) {
    this.#thread = thread;
    this.#msMax = msMax;
    this.#onOver = onOver;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  begin(): void {
    this.end();
    const begunMs = performance.now();
    let first: number | null = null;
    const timer = setInterval(() => void look(), this.#msMax / LOOKS).unref();
    const look = async (): Promise<void> => {
      const isLate = performance.now() - begunMs > CLOCK_FACTOR * this.#msMax;
      const used = isLate ? null : await this.#thread.processorMs();
      first ??= used;
      const isOver = isLate || (used !== null && first !== null && used - first > this.#msMax);
      if (timer !== this.#timer || !isOver) return;
      this.end();
      this.#isOver = true;
      this.#onOver();
    };
    this.#timer = timer;
    void look();
  }

  end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  [Symbol.dispose](): void {
    this.end();
  }
}

export interface Heap {
  readonly maxYoungGenerationSizeMb?: number;
  readonly maxOldGenerationSizeMb: number;
}

/**
 * Bounds of the heaps, in MiB: a fault in one thread must not take the memory of those that serve. A thread that comes to its bound
 * ends, and its call fails. Buffers (bodies, vectors, model weights) are outside the heap, each bounded where it is made.
 *
 * A young generation is named where V8, left to itself, lets that of a busy thread grow to four times as much and gains nothing.
 */
export const HEAPS = {
  /** The text of a page of 8 MiB, and its references; 1,000,000 entries are numbers and bytes outside, and take 48 MiB of it (measured). */
  unpack: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 256 },
  /** Postings of a query's words, and what is open of two versions. */
  query: { maxOldGenerationSizeMb: 1024 },
  /** The tokenizer's tables; the weights are the runtime's. */
  model: { maxOldGenerationSizeMb: 512 },
  /** A page of 16 MiB takes 400 MB to read for search (measured). */
  bundleSearch: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 1024 },
  /** The text of a file of 8 MiB, and an edit for each address in it. */
  mount: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 512 },
  /** bcrypt's tables, of 4 KiB a password. */
  passwords: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 32 },
  /** Rows of a page of jobs. */
  queue: { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 128 },
  /** As `bundleSearch`. A crawl of 20,000 pages has 317 MiB in all threads together (measured). */
  job: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 1024 },
  /** Far more than a page takes. Up to here garbage grows slowly: 20,000 pages took 317 MiB in all, and 390 without a bound. */
  pages: { maxYoungGenerationSizeMb: 12, maxOldGenerationSizeMb: 1024 },
  /** Of a serving process: prepared files of its sites, 8 MiB each at most. Tables and bodies are buffers. */
  serving: { maxOldGenerationSizeMb: 4096 },
} as const satisfies Readonly<Record<string, Heap>>;

/** Of a process that may hold so many bytes in all: the rest is for the program, buffers, SQLite and a model. */
export function heapWithin(bytes: number): Heap {
  return { maxYoungGenerationSizeMb: 12, maxOldGenerationSizeMb: Math.floor((bytes / 1024 ** 2) * 0.6) };
}
