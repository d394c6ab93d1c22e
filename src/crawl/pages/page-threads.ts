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

export class PageThreads {
  readonly #threads: readonly Thread<PageCalls>[];

  constructor(count: number, data: Omit<PageThreadData, 'thread' | 'givesPages'>) {
    const entry = threadEntry('../worker', import.meta);
    this.#threads = Array.from({ length: count }, (_, thread) => {
      const own = { ...data, thread, givesPages: count === 1 } satisfies PageThreadData;
      return new Thread({ task: 'export', heap: HEAPS.pages, entry, data: own, isBatched: true, isReplaced: false });
    });
    for (const thread of this.#threads) thread.start();
  }

  publishedHost(order: PublishedOrder): Promise<string | null> {
    return this.#idlest().call('publishedHost', order);
  }

  /** After the start, which takes as long as finding the scope. */
  useScope(scope: ScopeSettings): Promise<unknown> {
    return Promise.all(this.#threads.map((thread) => thread.call('useScope', scope)));
  }

  /** Bytes are gone here afterwards. */
  read(order: ReadOrder): Promise<ReadPage> {
    const { content } = order;
    const transfer = content instanceof Uint8Array ? [content.buffer as ArrayBuffer] : [];
    return this.#idlest().call('read', order, { transfer });
  }

  write(order: WriteOrder): Promise<WrittenPage> {
    const { place } = order;
    // Only their thread can write references in its memory.
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
