import { Slots } from '../../files/lanes.ts';

/** Far longer than going on with a release takes: 100,000 passages are looked up in 3 s. A small site's release needs no more. */
const TURN_MS = 60_000;

/** A swap waits for its index: some 5,000 pages are indexed in this time (measured), and most sites in a tenth of it. */
const LONG_BUILD_MS = 30_000;

/** In a process of its own, beside one that is long. */
export type BuildPlace = 'main' | 'aside';

interface WaitingBuild {
  readonly size: number;
  readonly run: (place: BuildPlace) => Promise<void>;
}

interface Times {
  readonly turnMs?: number | undefined;
  readonly longBuildMs?: number | undefined;
}

/**
 * One at a time, so that one bound holds for the memory of all: builds come first, since a version waits for its index, and end the
 * turn of the release that is embedded. That one goes on after them from where it was; one that takes longer than its turn makes
 * room for others that are to be embedded. Of builds the smallest is next, and one that is long has smaller ones beside it.
 */
export class IndexTurns {
  readonly #slots = new Slots(1);
  readonly #turnMs: number;
  readonly #longBuildMs: number;
  /** By size; each has a task in the slots, which takes the first of them. */
  readonly #waitingBuilds: WaitingBuild[] = [];
  #builds = 0;
  #long: WaitingBuild | null = null;
  #isBuildingAside = false;
  #turn: AbortController | null = null;

  constructor({ turnMs = TURN_MS, longBuildMs = LONG_BUILD_MS }: Times = {}) {
    this.#turnMs = turnMs;
    this.#longBuildMs = longBuildMs;
  }

  /** Builds that are under way, or wait. */
  get builds(): number {
    return this.#builds;
  }

  /** All that wait for their turn. */
  get waiting(): number {
    return this.#slots.waiting;
  }

  /** @param size in any unit, to be compared with others' @throws what the work throws; the signal's reason */
  async build<Result>(
    size: number,
    work: (place: BuildPlace) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const waits = { size, run: (place: BuildPlace) => work(place).then(resolve, reject) };
    const giveUp = (): void => {
      const at = this.#waitingBuilds.indexOf(waits);
      if (at === -1) return;
      this.#waitingBuilds.splice(at, 1);
      reject(signal.reason);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    this.#builds += 1;
    this.#turn?.abort(OVER);
    const after = this.#waitingBuilds.findIndex((other) => other.size > size);
    this.#waitingBuilds.splice(after === -1 ? this.#waitingBuilds.length : after, 0, waits);
    void this.#slots.run(() => this.#buildNext());
    void this.#buildAside();
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', giveUp);
      this.#builds -= 1;
    }
  }

  async #buildNext(): Promise<void> {
    const build = this.#waitingBuilds.shift();
    if (build === undefined) return;
    const timer = setTimeout(() => {
      this.#long = build;
      void this.#buildAside();
    }, this.#longBuildMs).unref();
    await build.run('main');
    clearTimeout(timer);
    this.#long = null;
  }

  async #buildAside(): Promise<void> {
    if (this.#isBuildingAside) return;
    this.#isBuildingAside = true;
    for (let build = this.#nextAside(); build !== null; build = this.#nextAside()) await build.run('aside');
    this.#isBuildingAside = false;
  }

  #nextAside(): WaitingBuild | null {
    const [next] = this.#waitingBuilds;
    if (this.#long === null || next === undefined || next.size >= this.#long.size) return null;
    return this.#waitingBuilds.shift() ?? null;
  }

  /**
   * @param work goes on from where it was when it is called again; its signal is aborted at the end of the turn. The turn counts
   *   from `onBegun`: what it takes to go on is none of it, so that each turn gets further
   * @throws what the work throws; the signal's reason
   */
  async embed<Result>(
    work: (signal: AbortSignal, onBegun: () => void) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    for (;;) {
      const turn = new AbortController();
      try {
        return await this.#slots.run(() => this.#embed(turn, work, signal), signal);
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
    if (this.#waitingBuilds.length > 0) turn.abort(OVER);
    turn.signal.throwIfAborted();
    let timer: NodeJS.Timeout | undefined;
    const onBegun = (): void => {
      timer ??= setInterval(() => {
        if (this.#slots.waiting > 0) turn.abort(OVER);
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
