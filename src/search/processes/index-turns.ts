import { Scheduler } from '../../threads/scheduler.ts';

/** Far longer than going on with a release takes: 100,000 passages are looked up in 3 s. A small site's release needs no more. */
const TURN_MS = 60_000;

/** A swap waits for its index. Most sites need a tenth of this time; while a larger one is indexed, others do not wait for longer. */
const LONG_BUILD_MS = 5_000;

const BUILDING = 0;
const EMBEDDING = 1;

/** `aside`: in a second process, while the first build takes long. */
export type BuildPlace = 'main' | 'aside';

interface Times {
  readonly turnMs?: number | undefined;
  readonly longBuildMs?: number | undefined;
}

interface Build {
  readonly size: number;
  isLong: boolean;
}

/**
 * One at a time, so that one bound holds for the memory of all: builds come first, since a version waits for its index, and end the
 * turn of the release that is embedded. That one goes on after them from where it was; one that takes longer than its turn makes
 * room for others that are to be embedded. Sites take turns, and of those that had as many the smallest build is next. One that is
 * long has smaller ones beside it.
 */
export class IndexTurns {
  readonly #scheduler = new Scheduler({ max: () => (this.#mayBuildAside() ? 2 : 1) });
  readonly #turnMs: number;
  readonly #longBuildMs: number;
  readonly #waiting = new Set<Build>();
  readonly #running = new Set<Build>();
  #turn: AbortController | null = null;

  constructor({ turnMs = TURN_MS, longBuildMs = LONG_BUILD_MS }: Times = {}) {
    this.#turnMs = turnMs;
    this.#longBuildMs = longBuildMs;
  }

  /** Number of builds that run or wait. */
  get builds(): number {
    return this.#waiting.size + this.#running.size;
  }

  /** Number of builds and releases to embed that wait for their turn. */
  get waiting(): number {
    return this.#scheduler.waiting;
  }

  /**
   * @param size in any unit, to be compared with others'
   * @param site takes turns with other sites. Default: a site of its own
   * @throws what the work throws; the signal's reason
   */
  async build<Result>(
    size: number,
    work: (place: BuildPlace) => Promise<Result>,
    signal: AbortSignal,
    site: unknown = work,
  ): Promise<Result> {
    const build: Build = { size, isLong: false };
    this.#turn?.abort(OVER);
    this.#waiting.add(build);
    const act = async (_: AbortSignal, place: number): Promise<Result> => {
      this.#waiting.delete(build);
      this.#running.add(build);
      const timer = setTimeout(() => {
        build.isLong = true;
        this.#scheduler.look();
      }, this.#longBuildMs).unref();
      return work(place === 0 ? 'main' : 'aside').finally(() => {
        clearTimeout(timer);
        this.#running.delete(build);
      });
    };
    try {
      return await this.#scheduler.run(act, { key: site, priority: BUILDING, size, signal });
    } finally {
      this.#waiting.delete(build);
    }
  }

  #mayBuildAside(): boolean {
    const long = [...this.#running].filter(({ isLong }) => isLong);
    return [...this.#waiting].some(({ size }) => long.some((other) => size < other.size));
  }

  /**
   * @param work goes on from where it was when it is called again; its signal is aborted at the end of the turn. The turn counts
   *   from `onBegun`: what it takes to go on is none of it, so that each turn gets further
   * @throws what the work throws; the signal's reason
   */
  async embed<Result>(
    work: (signal: AbortSignal, onBegun: () => void) => Promise<Result>,
    signal: AbortSignal,
    site: unknown = work,
  ): Promise<Result> {
    for (;;) {
      const turn = new AbortController();
      try {
        const act = () => this.#embed(turn, work, signal);
        return await this.#scheduler.run(act, { key: site, priority: EMBEDDING, signal });
      } catch (error) {
        signal.throwIfAborted();
        if (!turn.signal.aborted) throw error;
      }
    }
  }

  async #embed<Result>(
    turn: AbortController,
    work: (signal: AbortSignal, onBegun: () => void) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    let timer: NodeJS.Timeout | undefined;
    const onBegun = (): void => {
      timer ??= setInterval(() => {
        if (this.#scheduler.waiting > 0) turn.abort(OVER);
      }, this.#turnMs).unref();
    };
    this.#turn = turn;
    try {
      return await work(AbortSignal.any([signal, turn.signal]), onBegun);
    } finally {
      clearInterval(timer);
      this.#turn = null;
    }
  }
}

const OVER = new Error('its turn is over');
