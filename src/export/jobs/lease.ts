import type { Claim, JobQueue } from '../ports.ts';

export type End = 'lost' | 'canceled' | 'deadline' | 'stopping';

/** A canceled job hears of it within this, or within a third of its lease. */
const HEARTBEAT_MS_MAX = 1_000;

/** Holds a claim by renewing it. Its signal tells the job to stop; `ended` says why. */
export class Lease {
  readonly #controller = new AbortController();
  readonly #beat: NodeJS.Timeout;
  readonly #deadline: NodeJS.Timeout;
  readonly #release: () => void;
  #ended: End | null = null;

  constructor(
    queue: Pick<JobQueue, 'renew'>,
    claim: Claim,
    { leaseMs, deadlineMs }: { readonly leaseMs: number; readonly deadlineMs: number },
    stopping: AbortSignal,
  ) {
    const renew = async (): Promise<void> => {
      // Where the lease is lost by a failed renewal, every later write says so.
      const state = await queue.renew(claim).catch(() => 'held' as const);
      if (state !== 'held') this.end(state);
    };
    this.#beat = setInterval(() => void renew(), Math.min(leaseMs / 3, HEARTBEAT_MS_MAX));
    this.#deadline = setTimeout(() => this.end('deadline'), deadlineMs);
    const stop = (): void => this.end('stopping');
    stopping.addEventListener('abort', stop, { once: true });
    this.#release = () => stopping.removeEventListener('abort', stop);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get ended(): End | null {
    return this.#ended;
  }

  /** The first reason holds. */
  end(reason: End): void {
    this.#ended ??= reason;
    clearInterval(this.#beat);
    clearTimeout(this.#deadline);
    this.#release();
    this.#controller.abort();
  }
}
