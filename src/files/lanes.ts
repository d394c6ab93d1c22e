/** Runs at most `max` tasks concurrently. After a task fails, `run` and `drain` throw the first error. */
export class Lanes implements AsyncDisposable {
  readonly #max: number;
  readonly #running = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | null = null;

  constructor(max: number) {
    this.#max = max;
  }

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

  async drain(): Promise<void> {
    await Promise.all(this.#running);
    this.#throwFailure();
  }

  /** Waits for the running tasks, and ignores their errors. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#running);
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }
}

/** Maps items in order, up to `max` ahead of the consumer. Waits for all running calls before the iteration ends. */
export async function* mapAhead<Item, Result>(
  items: Iterable<Item> | AsyncIterable<Item>,
  max: number,
  map: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const ahead: Promise<Result>[] = [];
  try {
    for await (const item of items) {
      const result = map(item);
      // Prevent an unhandled rejection. The consumer receives the error when it reaches this item.
      result.catch(() => undefined);
      ahead.push(result);
      if (ahead.length >= max) yield await (ahead.shift() as Promise<Result>);
    }
    for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) yield await next;
  } finally {
    await Promise.allSettled(ahead);
  }
}

/** Waits for all work, also after an error, because the caller then closes resources that the work uses. @throws the first error */
export async function untilAllEnded(work: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(work);
  await Promise.all(work);
}

/** Rejects when `signal` aborts. `work` continues, but its result is ignored. */
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
