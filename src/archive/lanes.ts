/** Runs tasks side by side, no more than `max` at once. The first failure is thrown to whoever adds the next task. */
export class Lanes {
  readonly #max: number;
  readonly #running = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | null = null;

  constructor(max: number) {
    this.#max = max;
  }

  /** Starts a task as soon as a lane is free; resolves when it has started. */
  async run(task: () => Promise<void>): Promise<void> {
    while (this.#running.size >= this.#max) await Promise.race(this.#running);
    this.#throwFailure();
    const running: Promise<void> = task()
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Waits for every task, and throws the first failure. */
  async drain(): Promise<void> {
    await this.settle();
    this.#throwFailure();
  }

  /** Waits until nothing runs any more. Never throws. */
  async settle(): Promise<void> {
    await Promise.all(this.#running);
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }
}
