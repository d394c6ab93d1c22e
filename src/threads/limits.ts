type Measured = { processorMs(): Promise<number | null> };

/** Factor of the limit for elapsed time. It also ends a task that waits without using the processor. */
const CLOCK_FACTOR = 10;
const LOOKS = 10;

/** Limits processor time, because a limit of elapsed time would end tasks that only wait on a busy machine. */
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
 * Heap limits in MiB, so that one thread cannot use up the memory of the others. A thread over its limit ends, and its calls fail. Buffers
 * are outside the heap and limited where docshelf creates them. A young generation is set only if V8's default takes more (measured).
 */
export const HEAPS = {
  /** Enough for the text and references of a page of 8 MiB. 1,000,000 entries take 48 MiB (measured). */
  unpack: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 256 },
  query: { maxOldGenerationSizeMb: 1024 },
  model: { maxOldGenerationSizeMb: 512 },
  /** Reading a page of 16 MiB for search takes 400 MB (measured). */
  bundleSearch: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 1024 },
  mount: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 512 },
  passwords: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 32 },
  queue: { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 128 },
  /** Same as `bundleSearch`. A crawl of 20,000 pages takes 317 MiB in all threads (measured). */
  job: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 1024 },
  /** Much more than a page needs. With this limit, 20,000 pages took 317 MiB in all threads, without a limit 390 MiB (measured). */
  pages: { maxYoungGenerationSizeMb: 12, maxOldGenerationSizeMb: 1024 },
} as const satisfies Readonly<Record<string, Heap>>;

/** Uses 60 % of the bytes for the heap. The rest is for the program, buffers, SQLite and a model. */
export function heapWithin(bytes: number): Heap {
  return { maxYoungGenerationSizeMb: 12, maxOldGenerationSizeMb: Math.floor((bytes / 1024 ** 2) * 0.6) };
}
