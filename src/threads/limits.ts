type Measured = { processorMs(): Promise<number | null> };

/** Elapsed time limit as a multiple of the processor time limit. Ends tasks that wait without using the processor. */
const CLOCK_FACTOR = 10;
const LOOKS = 10;

/** Limits processor time, because on a busy machine a limit of elapsed time would end tasks that only wait for a processor. */
export class ProcessorLimit implements Disposable {
  readonly #thread: Measured;
  readonly #msMax: number;
  readonly #onOver: () => void;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

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

export type Heap = { readonly maxYoungGenerationSizeMb?: number; readonly maxOldGenerationSizeMb: number };

/**
 * Heap limits, so that one thread cannot use up the memory of the others. Buffers are outside the heap.
 * The young generation is limited only for threads that need more memory with V8's default limit (measured).
 */
export const HEAPS = {
  /** Heap for an import. Suffices for text and references of a page of 8 MiB. 1,000,000 archive entries take 48 MiB (measured). */
  unpack: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 256 },
  query: { maxOldGenerationSizeMb: 1024 },
  model: { maxOldGenerationSizeMb: 512 },
  /** Heap to compute search data at export: enough to read a page of 16 MiB, which takes 400 MB (measured). */
  bundleSearch: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 1024 },
  mount: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 512 },
  passwords: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 32 },
  queue: { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 128 },
  /** Heap of an export job: about three times the memory that all threads of a crawl of 20,000 pages need (see `pages`). */
  job: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 1024 },
  /** Heap of a thread that reads pages. With V8's defaults, a crawl of 20,000 pages took 390 instead of 317 MiB (measured). */
  pages: { maxYoungGenerationSizeMb: 12, maxOldGenerationSizeMb: 1024 },
} as const satisfies Readonly<Record<string, Heap>>;

/** Returns a heap limit of 60 % of the bytes. The rest is for the program, buffers, SQLite and a model. */
export function heapWithin(bytes: number): Heap {
  return { maxYoungGenerationSizeMb: 12, maxOldGenerationSizeMb: Math.floor((bytes / 1024 ** 2) * 0.6) };
}
