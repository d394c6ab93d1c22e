import { TIMER_MS_MAX } from '../work-queue.ts';

/** Share of the interval: daemons that started together do not ask together. */
const JITTER = 0.1;

const RETRY_MS = 600_000;

/** Runs rounds at an interval, counted from the end of the one before; the first one interval after the start. */
export class RenewLoop {
  readonly #round: () => Promise<'done' | 'failed for now'>;
  readonly #random: () => number;
  #everyMs: number | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(round: () => Promise<'done' | 'failed for now'>, random: () => number = Math.random) {
    this.#round = round;
    this.#random = random;
  }

  /** Null: no rounds. An unchanged interval goes on where it is. */
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
    if (this.#everyMs !== everyMs) return;
    const nextMs = outcome === 'done' ? everyMs : Math.min(everyMs, RETRY_MS);
    clearTimeout(this.#timer);
    this.#runAfter(this.#jittered(nextMs), everyMs);
  }

  #jittered(ms: number): number {
    return Math.round(ms * (1 + JITTER * this.#random()));
  }
}
