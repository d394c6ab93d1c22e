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
