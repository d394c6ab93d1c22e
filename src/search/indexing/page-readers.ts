import { setImmediate } from 'node:timers/promises';
import type { FileEntry } from '../../domain/release.ts';
import { HEAPS, Thread, threadEntry } from '../../threads/index.ts';
import { type PageForIndex, type PagesFrom, type PageToRead, readPage } from './read-page.ts';
import type { ReadCalls } from './worker.ts';

export interface ReadersOptions {
  /** That read pages beside this one. */
  readonly threadsMax?: number;
  /** Called with the path of each page that may take the process along, before it is read, and with null after it. */
  readonly onLargePage?: ((path: string | null) => void) | undefined;
}

/** Of tags or attributes alone a page takes up to a hundred times its size (measured): smaller ones always fit. */
export const LARGE_PAGE_BYTES = 256 * 1024;
/** Needs the memory that the threads have. */
const HUGE_PAGE_BYTES = 1024 * 1024;
/** A thread starts in 80 ms of a processor, which 120 pages take, and its first 200 pages take 1.6 times as long as later ones (measured). */
const PAGES_BEFORE_THREADS = 1_000;
/** That each thread has before it, and this one between two of its answers. Of 4, 8 and 32 none was faster. */
const PAGES_AHEAD = 16;

/** Reads pages on all cores: the first in this thread, and where there are many, the rest in others too. Large ones alone, one at a time. */
export class PageReaders implements AsyncDisposable {
  readonly #from: PagesFrom;
  readonly #threads: readonly Thread<ReadCalls>[];
  readonly #onLargePage: (path: string | null) => void;
  #pages = 0;

  constructor(from: PagesFrom, { threadsMax = 0, onLargePage = () => undefined }: ReadersOptions = {}) {
    this.#from = from;
    this.#onLargePage = onLargePage;
    const entry = threadEntry('./worker', import.meta);
    const options = { task: 'read a page', isBatched: true, heap: HEAPS.pages, entry, data: from };
    this.#threads = Array.from({ length: threadsMax }, () => new Thread<ReadCalls>(options));
  }

  /** How many are to be begun before the first of them is asked for. */
  get ahead(): number {
    return PAGES_AHEAD * (this.#threads.length + 1);
  }

  /** @returns what gives it, null for one that is not searched */
  begin({ path, type, size }: FileEntry, url: string): () => Promise<PageForIndex | null> {
    const page = { path, type, url };
    const here = () => this.#here(page, size);
    this.#pages += 1;
    if (this.#pages <= PAGES_BEFORE_THREADS || size > LARGE_PAGE_BYTES) return here;
    const thread = this.#threads.find(({ waiting }) => waiting < PAGES_AHEAD);
    if (thread === undefined) return here;
    const answer = thread.call('read', page);
    answer.catch(() => undefined);
    // What ended a thread is told here, as of all other pages.
    return () => answer.catch(here);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#endThreads();
  }

  /** A later call starts them anew. */
  async #endThreads(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.terminate()));
  }

  /** Between two pages it hears what it is told. */
  async #here(page: PageToRead, size: number): Promise<PageForIndex | null> {
    await setImmediate();
    if (size > HUGE_PAGE_BYTES) {
      this.#pages = 0;
      await this.#endThreads();
    }
    return this.#announced(page.path, size, () => readPage(this.#from, page));
  }

  #announced<Result>(path: string, size: number, read: () => Result): Result {
    const isLarge = size > LARGE_PAGE_BYTES;
    if (isLarge) this.#onLargePage(path);
    const result = read();
    if (isLarge) this.#onLargePage(null);
    return result;
  }
}
