import { Slots } from '../files/lanes.ts';

/** Far longer than going on with a release takes: 100,000 passages are looked up in 3 s. A small site's release needs no more. */
const TURN_MS = 60_000;

/**
 * One at a time, so that one bound holds for the memory of all: builds come first, since a version waits for its index, and end the
 * turn of the release that is embedded. That one goes on after them from where it was; one that takes longer than its turn makes
 * room for others that are to be embedded.
 */
export class IndexTurns {
  readonly #slots = new Slots(1);
  readonly #turnMs: number;
  #builds = 0;
  #turn: AbortController | null = null;

  constructor(turnMs = TURN_MS) {
    this.#turnMs = turnMs;
  }

  /** Builds that are under way, or wait. */
  get builds(): number {
    return this.#builds;
  }

  /** All that wait for their turn. */
  get waiting(): number {
    return this.#slots.waiting;
  }

  /** @throws what the work throws; the signal's reason */
  async build<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    this.#builds += 1;
    this.#turn?.abort(OVER);
    try {
      return await this.#slots.run(work, signal);
    } finally {
      this.#builds -= 1;
    }
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
    if (this.#builds > 0) turn.abort(OVER);
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
