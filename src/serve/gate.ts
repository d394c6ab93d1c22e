/** A semaphore: a bounded number of tasks at once, first come first served. */
export class Gate {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(tasksMax: number) {
    this.#free = tasksMax;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      // A place is handed on and not freed, so that nobody who comes later takes it first.
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
