import { HEAPS, Thread, threadEntry } from '../../threads/index.ts';
import type { ScopeSettings } from '../scope.ts';
import type { PageCalls } from '../worker.ts';
import type {
  PageThreadData,
  ReadPage,
  ReadRequest,
  SiteNames,
  StartPage,
  WriteRequest,
  WrittenPage,
} from './page-work.ts';

export class PageThreads {
  readonly #threads: readonly Thread<PageCalls>[];

  constructor(count: number, data: PageThreadData) {
    const entry = threadEntry('../worker', import.meta);
    const options = { task: 'export', heap: HEAPS.pages, entry, data, isBatched: true, isReplaced: false };
    this.#threads = Array.from({ length: count }, () => new Thread<PageCalls>(options));
    for (const thread of this.#threads) thread.start();
  }

  publishedHost(page: StartPage): Promise<string | null> {
    return this.#idlest().call('publishedHost', page);
  }

  useScope(scope: ScopeSettings): Promise<unknown> {
    return Promise.all(this.#threads.map((thread) => thread.call('useScope', scope)));
  }

  /** Transfers the bytes to the thread, so the caller can no longer use them. */
  read(request: ReadRequest): Promise<ReadPage> {
    const { content } = request;
    const transfer = content instanceof Uint8Array ? [content.buffer as ArrayBuffer] : [];
    return this.#idlest().call('read', request, { transfer });
  }

  write(request: WriteRequest): Promise<WrittenPage> {
    return this.#idlest().call('write', request);
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
