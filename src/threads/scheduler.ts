export interface SchedulerOptions {
  readonly max: number | (() => number);
  readonly keyMax?: number;
  /** Maximum waiting tasks per key. `refuse` creates the error for each task over the maximum. Default: no maximum. */
  readonly waitingMax?: number;
  readonly refuse?: () => Error;
}

export interface Turn {
  /** Owner of the task, usually a site. The scheduler alternates between owners. Default: one owner for all tasks. */
  readonly key?: unknown;
  /** Tasks with a lower number run first, whatever their key. Default: 0. */
  readonly priority?: number;
  readonly size?: number;
  /** Tasks with the same `share` run once, and all their callers get the result. */
  readonly share?: unknown;
  readonly signal?: AbortSignal | undefined;
}

export type Task<Result> = (signal: AbortSignal) => Promise<Result>;

type Rank = readonly [number, number, number, number];

type Waiting = { readonly rank: Rank; readonly begin: () => void };

type Line = { readonly waiting: Waiting[]; running: number; turns: number };

type Shared = { readonly result: Promise<unknown>; readonly abort: AbortController; wanted: number };

const NEVER = new AbortController().signal;

/** Limits concurrent tasks. Order: lowest priority number, key with the fewest started tasks, smallest size, longest wait. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #keyMax: number;
  readonly #lines = new Map<unknown, Line>();
  readonly #shared = new Map<unknown, Shared>();
  #running = 0;
  #waiting = 0;
  #lastNumber = 0;

  constructor(options: SchedulerOptions | number) {
    this.#options = typeof options === 'number' ? { max: options } : options;
    this.#keyMax = this.#options.keyMax ?? Number.POSITIVE_INFINITY;
  }

  get waiting(): number {
    return this.#waiting;
  }

  async run<Result>(task: Task<Result>, turn: Turn = {}): Promise<Result> {
    const { key, share, signal } = turn;
    signal?.throwIfAborted();
    if (share !== undefined) return this.#runShared(share, task, turn);
    const line = this.#lines.get(key) ?? { waiting: [], running: 0, turns: 0 };
    this.#lines.set(key, line);
    const isFree = this.#running < this.#max && line.running < this.#keyMax;
    if (isFree) this.#take(line);
    else await this.#wait(line, turn);
    try {
      return await task(signal ?? NEVER);
    } finally {
      this.#running -= 1;
      line.running -= 1;
      if (this.#waiting > 0) this.look();
      this.#forgetIdle();
    }
  }

  async #runShared<Result>(share: unknown, task: Task<Result>, turn: Turn): Promise<Result> {
    const { signal } = turn;
    let shared = this.#shared.get(share);
    while (shared?.abort.signal.aborted) {
      await shared.result.catch(() => undefined);
      signal?.throwIfAborted();
      shared = this.#shared.get(share);
    }
    return (await join(shared ?? this.#begin(share, task, turn), signal)) as Result;
  }

  look(): void {
    while (this.#waiting > 0 && this.#running < this.#max) {
      const line = this.#next();
      if (line === null) return;
      this.#waiting -= 1;
      this.#take(line);
      line.waiting.shift()?.begin();
    }
  }

  get #max(): number {
    const { max } = this.#options;
    return typeof max === 'number' ? max : max();
  }

  #begin(share: unknown, task: Task<unknown>, turn: Turn): Shared {
    const abort = new AbortController();
    const { signal } = abort;
    const result = this.run(task, { ...turn, share: undefined, signal }).finally(() => this.#shared.delete(share));
    result.catch(() => undefined);
    const shared = { result, abort, wanted: 0 };
    this.#shared.set(share, shared);
    return shared;
  }

  #wait(line: Line, { priority = 0, size = 0, signal }: Turn): Promise<void> {
    const { waitingMax = Number.POSITIVE_INFINITY, refuse } = this.#options;
    if (line.waiting.length >= waitingMax) throw refuse?.() ?? new Error('too many tasks are waiting');
    if (line.waiting.length === 0) line.turns = Math.max(line.turns, this.#leastTurns());
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = (): void => {
      line.waiting.splice(line.waiting.indexOf(waits), 1);
      this.#waiting -= 1;
      reject(signal?.reason);
    };
    const begin = (): void => {
      signal?.removeEventListener('abort', leave);
      resolve();
    };
    this.#lastNumber += 1;
    const waits: Waiting = { rank: [priority, 0, size, this.#lastNumber], begin };
    const before = line.waiting.findLastIndex(({ rank }) => compare(rank, waits.rank) < 0);
    line.waiting.splice(before + 1, 0, waits);
    this.#waiting += 1;
    signal?.addEventListener('abort', leave, { once: true });
    return promise;
  }

  /** Deletes each key without tasks. Keeps a key that had more turns than a waiting key, so that it gains no turn when it returns. */
  #forgetIdle(): void {
    const least = this.#waiting === 0 ? Number.POSITIVE_INFINITY : this.#leastTurns();
    for (const [key, { waiting, running, turns }] of this.#lines)
      if (waiting.length === 0 && running === 0 && turns <= least) this.#lines.delete(key);
  }

  #leastTurns(): number {
    let least = Number.POSITIVE_INFINITY;
    for (const { waiting, turns } of this.#lines.values()) if (waiting.length > 0) least = Math.min(least, turns);
    return least === Number.POSITIVE_INFINITY ? 0 : least;
  }

  /** Counts the task as running before it starts, so that no later task starts in its place. */
  #take(line: Line): void {
    this.#running += 1;
    line.running += 1;
    line.turns += 1;
  }

  #next(): Line | null {
    let next: { readonly line: Line; readonly rank: Rank } | null = null;
    for (const line of this.#lines.values()) {
      const [head] = line.waiting;
      if (head === undefined || line.running >= this.#keyMax) continue;
      const [priority, , size, number] = head.rank;
      const rank: Rank = [priority, line.turns, size, number];
      if (next === null || compare(rank, next.rank) < 0) next = { line, rank };
    }
    return next?.line ?? null;
  }
}

const compare = (one: Rank, other: Rank): number =>
  one[0] - other[0] || one[1] - other[1] || one[2] - other[2] || one[3] - other[3];

/** Aborts the task only if its last waiting caller aborts. This caller then waits until the task has ended. */
async function join(shared: Shared, signal: AbortSignal | undefined): Promise<unknown> {
  const left = Promise.withResolvers<never>();
  const leave = (): void => {
    shared.wanted -= 1;
    if (shared.wanted === 0) shared.abort.abort(signal?.reason);
    else left.reject(signal?.reason);
  };
  shared.wanted += 1;
  signal?.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([shared.result, left.promise]);
  } finally {
    signal?.removeEventListener('abort', leave);
  }
}
