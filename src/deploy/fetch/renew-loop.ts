/** Rounds come up to this share later than asked for, so that daemons that started together do not ask together. */
const JITTER = 0.1;

/** After a round that failed in a way that may pass. */
const RETRY_MS = 600_000;

/** What `setTimeout` can wait; more than 24 days take several (HTML standard, timers: a signed 32-bit integer). */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * Runs one round after another at an interval, counted from the end of the one before. The first comes one interval after the
 * start: what is there at a start, the start itself has looked for.
 */
export class RenewLoop {
  readonly #round: () => Promise<'done' | 'failed for now'>;
  readonly #random: () => number;
  #everyMs: number | null = null;
  #timer: NodeJS.Timeout | undefined;

  /** @param round never rejects. */
  constructor(round: () => Promise<'done' | 'failed for now'>, random: () => number = Math.random) {
    this.#round = round;
    this.#random = random;
  }

  /** Takes the interval that holds; null: no rounds. An unchanged one goes on where it is. */
  use(everyMs: number | null): void {
    if (everyMs === this.#everyMs) return;
    this.#everyMs = everyMs;
    clearTimeout(this.#timer);
    if (everyMs !== null) this.#runAfter(this.#jittered(everyMs), everyMs);
  }

  stop(): void {
    this.use(null);
  }

  #runAfter(waitMs: number, everyMs: number): void {
    const now = Math.min(waitMs, TIMER_MS_MAX);
    this.#timer = setTimeout(() => {
      if (waitMs > now) this.#runAfter(waitMs - now, everyMs);
      else void this.#run(everyMs);
    }, now).unref();
  }

  async #run(everyMs: number): Promise<void> {
    const outcome = await this.#round();
    // Meanwhile another interval may hold, with rounds of its own.
    if (this.#everyMs !== everyMs) return;
    const nextMs = outcome === 'done' ? everyMs : Math.min(everyMs, RETRY_MS);
    clearTimeout(this.#timer);
    this.#runAfter(this.#jittered(nextMs), everyMs);
  }

  #jittered(ms: number): number {
    return Math.round(ms * (1 + JITTER * this.#random()));
  }
}
