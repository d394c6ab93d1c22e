import { HEAPS, Thread, threadEntry } from '../../threads/index.ts';
import type { ScopeSettings } from '../scope.ts';
import type { PageCalls } from '../worker.ts';
import type {
  PageThreadData,
  PublishedOrder,
  ReadOrder,
  ReadPage,
  SiteNames,
  WriteOrder,
  WrittenPage,
} from './page-work.ts';

/** The threads that read and write pages. An order goes to the one that has the least to do. */
export class PageThreads {
  readonly #threads: readonly Thread<PageCalls>[];

  constructor(count: number, data: Omit<PageThreadData, 'thread' | 'givesPages'>) {
    const entry = threadEntry('../worker', import.meta);
    this.#threads = Array.from({ length: count }, (_, thread) => {
      const own = { ...data, thread, givesPages: count === 1 } satisfies PageThreadData;
      // Waking a thread costs as much as reading a small page.
      return new Thread({ task: 'export', heap: HEAPS.pages, entry, data: own, isBatched: true, isReplaced: false });
    });
    for (const thread of this.#threads) thread.start();
  }

  publishedHost(order: PublishedOrder): Promise<string | null> {
    return this.#idlest().call('publishedHost', order);
  }

  /** Later than the start, which takes as long as finding the scope out. */
  useScope(scope: ScopeSettings): Promise<unknown> {
    return Promise.all(this.#threads.map((thread) => thread.call('useScope', scope)));
  }

  /** Bytes are handed over: they are gone here. */
  read(order: ReadOrder): Promise<ReadPage> {
    const { content } = order;
    const transfer = content instanceof Uint8Array ? [content.buffer as ArrayBuffer] : [];
    return this.#idlest().call('read', order, { transfer });
  }

  write(order: WriteOrder): Promise<WrittenPage> {
    const { place } = order;
    // References in a thread's memory no other one can write.
    const writer = place?.length === 0 ? this.#threads[place.thread] : undefined;
    return (writer ?? this.#idlest()).call('write', order);
  }

  useNames(names: SiteNames): Promise<unknown> {
    return Promise.all(this.#threads.map((thread) => thread.call('useNames', names)));
  }

  useDigests(digests: ReadonlyMap<string, string>): Promise<unknown> {
    return Promise.all(this.#threads.map((thread) => thread.call('useDigests', digests)));
  }

  async end(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end({ withinMs: 0 })));
  }

  #idlest(): Thread<PageCalls> {
    return this.#threads.reduce((idlest, thread) => (thread.waiting < idlest.waiting ? thread : idlest));
  }
}
