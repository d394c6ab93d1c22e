import { Slots } from '../files/lanes.ts';

/** Far longer than going on with a release takes: 100,000 passages are looked up in 3 s. A small site's release needs no more. */
const TURN_MS = 60_000;

/**
 * Embedding in turns: one release at a time. One that takes longer than its turn makes room for those that wait, and goes on
 * after them from where it was.
 */
export class EmbedTurns {
  readonly #slots = new Slots(1);
  readonly #turnMs: number;

  constructor(turnMs = TURN_MS) {
    this.#turnMs = turnMs;
  }

  /** Releases that wait for their turn. */
  get waiting(): number {
    return this.#slots.waiting;
  }

  /**
   * @param work goes on from where it was when it is called again; its signal is aborted at the end of the turn. The turn counts
   *   from `onBegun`: what it takes to go on is none of it, so that each turn gets further
   * @throws what the work throws; the signal's reason
   */
  async run<Result>(
    work: (signal: AbortSignal, onBegun: () => void) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    for (;;) {
      const turn = new AbortController();
      try {
        return await this.#slots.run(() => this.#turn(turn, work, signal), signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!turn.signal.aborted) throw error;
      }
    }
  }

  async #turn<Result>(
    turn: AbortController,
    work: (signal: AbortSignal, onBegun: () => void) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    let timer: NodeJS.Timeout | undefined;
    const onBegun = (): void => {
      timer ??= setInterval(() => {
        if (this.#slots.waiting > 0) turn.abort(new Error('its turn is over'));
      }, this.#turnMs).unref();
    };
    try {
      return await work(AbortSignal.any([signal, turn.signal]), onBegun);
    } finally {
      clearInterval(timer);
    }
  }
}
