/** Runs tasks for their results, no more than `max` at once; others wait for their turn. */
export class Slots {
  readonly #max: () => number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** A function where the bound may change; a higher one is used from the next end of a task. */
  constructor(max: number | (() => number)) {
    this.#max = typeof max === 'number' ? () => max : max;
  }

  /** Tasks that wait for their turn. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** @param signal ends the wait, with its reason; a task that has begun goes on */
  async run<Result>(task: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    if (this.#running < this.#max()) this.#running += 1;
    else await this.#wait(signal);
    try {
      return await task();
    } finally {
      this.#running -= 1;
      // A place is taken for whoever waited longest, so that nobody who comes later takes it first.
      for (; this.#running < this.#max() && this.#waiting.length > 0; this.#running += 1) this.#waiting.shift()?.();
    }
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = (): void => {
      this.#waiting.splice(this.#waiting.indexOf(begin), 1);
      reject(signal?.reason);
    };
    const begin = (): void => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    };
    this.#waiting.push(begin);
    signal?.addEventListener('abort', onAbort, { once: true });
    return promise;
  }
}

/** Runs tasks side by side, no more than `max` at once. The first failure is thrown to whoever adds the next task. */
export class Lanes implements AsyncDisposable {
  readonly #max: () => number;
  readonly #running = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | null = null;

  /** A function where the bound may change. */
  constructor(max: number | (() => number)) {
    this.#max = typeof max === 'number' ? () => max : max;
  }

  /** Resolves when the task has started, as soon as a lane is free. */
  async run(task: () => Promise<void>): Promise<void> {
    while (this.#running.size >= this.#max()) await Promise.race(this.#running);
    this.#throwFailure();
    const running: Promise<void> = task()
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async drain(): Promise<void> {
    await this.settle();
    this.#throwFailure();
  }

  async settle(): Promise<void> {
    await Promise.all(this.#running);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.settle();
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }
}

/** Maps in order, up to `max` items ahead of the reader; when that stops, none is left at work. */
export async function* mapAhead<Item, Result>(
  items: Iterable<Item> | AsyncIterable<Item>,
  max: number,
  map: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const ahead: Promise<Result>[] = [];
  try {
    for await (const item of items) {
      const result = map(item);
      // It is thrown at its turn; until then nobody waits for it.
      result.catch(() => undefined);
      ahead.push(result);
      if (ahead.length >= max) yield await (ahead.shift() as Promise<Result>);
    }
    for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) yield await next;
  } finally {
    await Promise.allSettled(ahead);
  }
}

/** Rejects as soon as the signal is aborted; the work itself, which has no end to be called to, goes on in vain. */
export async function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([aborted.promise, work]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
