import type { CallsOf } from './channel.ts';
import type { Thread } from './thread.ts';

/** Starting a thread to unpack takes 200 ms of a processor, most of it for its modules (measured). */
const IDLE_MS = 1_000;
/** A thread that was at work for longer may hold much memory, and what it costs to start another no longer counts. */
const REUSED_AFTER_MS_MAX = 3_000;

/** Threads that work for one caller after the other. How many there are at once is for the callers to bound. */
export class ThreadPool<Calls extends CallsOf<Calls>> {
  readonly #open: () => Thread<Calls>;
  readonly #idle = new Map<Thread<Calls>, NodeJS.Timeout>();

  constructor(open: () => Thread<Calls>) {
    this.#open = open;
  }

  /** A failure ends the thread, with all that it holds, before it is told. */
  async run<Result>(act: (thread: Thread<Calls>) => Promise<Result>): Promise<Result> {
    const thread = this.#taken();
    const begunMs = performance.now();
    try {
      const result = await act(thread);
      if (performance.now() - begunMs > REUSED_AFTER_MS_MAX) await thread.terminate();
      else this.#rest(thread);
      return result;
    } catch (error) {
      await thread.terminate();
      throw error;
    }
  }

  async end(): Promise<void> {
    await Promise.all(Array.from(this.#idle.keys(), (thread) => this.#endIdle(thread)));
  }

  #taken(): Thread<Calls> {
    const [thread] = this.#idle.keys();
    if (thread === undefined) return this.#open();
    clearTimeout(this.#idle.get(thread));
    this.#idle.delete(thread);
    return thread;
  }

  #rest(thread: Thread<Calls>): void {
    this.#idle.set(thread, setTimeout(() => void this.#endIdle(thread), IDLE_MS).unref());
  }

  async #endIdle(thread: Thread<Calls>): Promise<void> {
    clearTimeout(this.#idle.get(thread));
    this.#idle.delete(thread);
    await thread.terminate();
  }
}
