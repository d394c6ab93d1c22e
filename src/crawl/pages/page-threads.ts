import { HEAPS, Thread, type ThreadCall, threadEntry } from '../../threads/index.ts';
import type { PageCalls } from '../worker.ts';
import type { PageThreadData } from './page-work.ts';

export class PageThreads {
  readonly #threads: readonly Thread<PageCalls>[];

  constructor(count: number, data: PageThreadData) {
    const entry = threadEntry('../worker', import.meta);
    const options = { task: 'export', heap: HEAPS.pages, entry, data, isReplaced: false };
    this.#threads = Array.from({ length: count }, () => new Thread<PageCalls>(options));
    for (const thread of this.#threads) thread.start();
  }

  /** Calls the thread with the fewest pending calls. */
  readonly call: ThreadCall<PageCalls> = (...given) =>
    this.#threads.reduce((idlest, thread) => (thread.waiting < idlest.waiting ? thread : idlest)).call(...given);

  async callAll(...given: Parameters<Thread<PageCalls>['call']>): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.call(...given)));
  }

  async end(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end({ withinMs: 0 })));
  }
}
