import { setImmediate } from 'node:timers/promises';
import { type FileEntry, type FileTable, isPage, type TrailingSlash } from '../../domain/release.ts';
import { LineSpool, ownVersions } from '../../files/index.ts';
import { HEAPS, Thread, threadEntry } from '../../threads/index.ts';
import { sphinxVersion } from '../../web/content/page-facts.ts';
import { Duplicates } from '../extract/duplicates.ts';
import { PageForms, readerUrl } from '../extract/reader-url.ts';
import type { IndexedSection } from '../keyword/index-writer.ts';
import type { Passage } from '../ports.ts';
import { PagePriors } from './page-priors.ts';
import {
  type PageForIndex,
  type PagesFrom,
  type PageToRead,
  readPage,
  type SectionInPassages,
  textOf,
} from './read-page.ts';
import type { ReadCalls } from './worker.ts';

/** Files of a site in path order. The file table creates entries on demand, because 100,000 entries take 30 MiB. */
export type SiteFiles = Pick<FileTable, 'has' | 'get' | 'values'>;

interface PagesOfSite extends Pick<ReadersOptions, 'onLargePage'> {
  readonly siteDir: string;
  readonly files: SiteFiles;
  readonly trailingSlash: TrailingSlash;
  readonly leftOut?: ReadonlySet<string>;
}

/** Maximum pages to read to learn whether links have a file extension. Taken from the whole site, because languages may differ. */
const FORM_SAMPLE_MAX = 60;

export async function readSections(
  { siteDir, files, trailingSlash, leftOut, onLargePage }: PagesOfSite,
  spoolFile: string,
  { threadsMax = 0 }: Pick<ReadersOptions, 'threadsMax'> = {},
): Promise<SiteSections> {
  const form = { trailingSlash, extension: await extensionOf(siteDir, files) };
  // From Sphinx 7 on, `_static/documentation_options.js` contains the version of the documentation.
  const options = files.get('_static/documentation_options.js');
  const version = options === undefined ? null : sphinxVersion(textOf(siteDir, options));
  const urlOf = (path: string): string => readerUrl(path, form, files);
  const folders = await ownVersions({ files, siteDir });
  const versionOf = (path: string): string | null => {
    const folder = folders.find((each) => path.startsWith(each));
    return folder === undefined ? null : (folder.split('/').at(-2) ?? null);
  };
  const urls = Array.from(pagesOf(files), ({ path }) => urlOf(path));
  const isLarge = urls.length >= PAGES_WITH_THREADS;
  await using readers = new PageReaders({ siteDir, version }, { threadsMax: isLarge ? threadsMax : 0, onLargePage });
  const priors = new PagePriors(urls);
  const duplicates = new Duplicates();
  using opened = new DisposableStack();
  const sections = opened.use(new SiteSections(spoolFile));
  const begun = pagesOf(files)
    .map((entry, number) => ({ entry, url: urls[number] as string }))
    .filter(({ entry }) => leftOut?.has(entry.path) !== true)
    .map(({ entry, url }) => ({ page: url, read: readers.begin(entry, { url, version: versionOf(entry.path) }) }));
  for (const { page, read } of ahead(begun, readers.ahead)) {
    const words = await read();
    if (words === null) continue;
    const { distance, links, isSecondary } = words;
    priors.add(page, links, isSecondary);
    sections.beginPage(page);
    const rank = { page, distance };
    for (const { fingerprint, json } of words.sections) {
      const verdict = duplicates.add(rank, fingerprint, sections.nextNumber);
      if (!verdict.kept) continue;
      if (verdict.replaced !== null) sections.drop(verdict.replaced);
      sections.add(json);
    }
  }
  sections.weigh(priors.decide());
  opened.move();
  return sections;
}

function* ahead<Item>(items: Iterable<Item>, count: number): Generator<Item> {
  const made: Item[] = [];
  for (const item of items) {
    made.push(item);
    if (made.length > count) yield made.shift() as Item;
  }
  yield* made;
}

function pagesOf(files: SiteFiles): IteratorObject<FileEntry> {
  return Iterator.from(files.values()).filter(({ path }) => isPage(path));
}

async function extensionOf(siteDir: string, files: SiteFiles) {
  const forms = new PageForms(files);
  const pages = pagesOf(files).reduce((count) => count + 1, 0);
  const stride = Math.max(1, Math.floor(pages / FORM_SAMPLE_MAX));
  for (const entry of pagesOf(files).filter((_, at) => at % stride === 0)) {
    await setImmediate();
    forms.addPage(entry.path, textOf(siteDir, entry));
  }
  return forms.extension();
}

/** Uses a temporary file, because 20,000 pages have hundreds of megabytes of sections. */
export class SiteSections {
  readonly #spool: LineSpool;
  readonly #dropped = new Set<number>();
  readonly #pages: string[] = [];
  readonly #pageOf: number[] = [];
  #priors: ReadonlyMap<string, number> = new Map();

  constructor(file: string) {
    this.#spool = new LineSpool(file);
  }

  get count(): number {
    return this.nextNumber - this.#dropped.size;
  }

  get nextNumber(): number {
    return this.#pageOf.length;
  }

  beginPage(page: string): void {
    this.#pages.push(page);
  }

  add(json: string): void {
    this.#spool.add(json);
    this.#pageOf.push(this.#pages.length - 1);
  }

  drop(number: number): void {
    this.#dropped.add(number);
  }

  weigh(priors: ReadonlyMap<string, number>): void {
    this.#priors = priors;
  }

  *all(): Generator<{ readonly section: IndexedSection; readonly passages: readonly Passage[] }> {
    let number = -1;
    for (const line of this.#spool.lines()) {
      number += 1;
      if (this.#dropped.has(number)) continue;
      const page = this.#pages[this.#pageOf[number] ?? 0] ?? '';
      const { section, passages } = JSON.parse(line) as SectionInPassages;
      yield { section: { ...section, page, prior: this.#priors.get(page) ?? 0 }, passages };
    }
  }

  [Symbol.dispose](): void {
    this.#spool[Symbol.dispose]();
  }
}

interface ReadersOptions {
  readonly threadsMax?: number;
  /** Called with the path before a large page is read, because reading may kill the process. Called with null after the page. */
  readonly onLargePage?: ((path: string | null) => void) | undefined;
}

/**
 * Size above which docshelf reads a page alone, and notes its path first. Reading such a page can exceed the memory limit: a page of only
 * tags or attributes takes up to 100 times its size (measured).
 */
export const LARGE_PAGE_BYTES = 256 * 1024;
const HUGE_PAGE_BYTES = 1024 * 1024;
/**
 * Number of pages to read before using threads. Starting a thread takes as long as reading 120 pages, and its first 200 pages
 * take 1.6 times as long.
 */
const PAGES_BEFORE_THREADS = 1_000;
/** Minimum pages of a site to use threads. In one profile, a thread took 0.6 s of processor time for only 169 pages. */
const PAGES_WITH_THREADS = 2 * PAGES_BEFORE_THREADS;
/** Number of pages in the queue of each thread. The values 4, 8 and 32 were not faster (measured). */
const PAGES_AHEAD = 16;

/** Reads the first pages in this thread and later pages in all threads, except large pages, which it reads here one at a time. */
class PageReaders implements AsyncDisposable {
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

  get ahead(): number {
    return PAGES_AHEAD * (this.#threads.length + 1);
  }

  begin(
    { path, type, size }: FileEntry,
    facts: Pick<PageToRead, 'url' | 'version'>,
  ): () => Promise<PageForIndex | null> {
    const page = { path, type, ...facts };
    const here = () => this.#here(page, size);
    this.#pages += 1;
    if (this.#pages <= PAGES_BEFORE_THREADS || size > LARGE_PAGE_BYTES) return here;
    const thread = this.#threads.find(({ waiting }) => waiting < PAGES_AHEAD);
    if (thread === undefined) return here;
    const answer = thread.call('read', page);
    answer.catch(() => undefined);
    return () => answer.catch(here);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#endThreads();
  }

  async #endThreads(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.terminate()));
  }

  async #here(page: PageToRead, size: number): Promise<PageForIndex | null> {
    await setImmediate();
    if (size > HUGE_PAGE_BYTES) {
      this.#pages = 0;
      await this.#endThreads();
    }
    const isLarge = size > LARGE_PAGE_BYTES;
    if (isLarge) this.#onLargePage(page.path);
    const read = readPage(this.#from, page);
    if (isLarge) this.#onLargePage(null);
    return read;
  }
}
