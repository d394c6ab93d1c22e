import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { type FileEntry, isPage, type ReleaseView } from '../../domain/release.ts';
import { readBeginning } from '../../files/index.ts';
import type { Documentation, DocumentationRelease } from '../../http/mcp/documentation.ts';
import { PageForms, type ReaderForm, readerUrl } from '../../search/extract/reader-url.ts';
import { type BodyCache, type PagePaths, readMarkdown, type SiteSnapshot } from '../../site/index.ts';
import { Scheduler } from '../../threads/scheduler.ts';
import { readFirstPage } from '../../web/first-page.ts';
import { fragmentOffset } from '../../web/markdown/fragment-offset.ts';
import { pageText } from '../../web/media-type.ts';
import { isWithheld } from '../../web/resolve.ts';

export interface DocumentedVersions {
  at(version: string | null): Promise<SiteSnapshot | null>;
  labels(): Promise<readonly string[]>;
}

export type DocumentedSite = Pick<Documentation, 'domain' | 'basePath' | 'origin' | 'search'> & {
  readonly versions: DocumentedVersions;
};

/**
 * @param siteNow function that returns the current site, called for each request, because the first bundle can change the domain
 * of the site
 */
export function siteDocumentation(siteNow: () => DocumentedSite, bodies: BodyCache): () => Documentation {
  const pages = new SitePages();
  return () => {
    const { versions, ...site } = siteNow();
    return {
      ...site,
      release: async (version) => {
        const snapshot = await versions.at(version);
        return snapshot && documentationOf(snapshot, pages, bodies);
      },
      versions: () => versions.labels(),
    };
  };
}

function documentationOf(snapshot: SiteSnapshot, pages: SitePages, bodies: BodyCache): DocumentationRelease {
  return {
    version: snapshot.version,
    basePath: snapshot.basePath,
    pages: () => pages.list(snapshot),
    titles: (addresses) => pages.titles(snapshot, addresses),
    read: async (target, signal, fragment = null) => {
      const read = await readMarkdown(snapshot, bodies, target, signal);
      signal.throwIfAborted();
      const path = read && (await pages.addressOf(snapshot, read.page));
      if (read === null || path === null) return null;
      const html = fragment === null ? null : await pages.htmlOf(snapshot, read.page);
      const start = html === null || fragment === null ? 0 : (fragmentOffset(html, fragment, read.markdown) ?? 0);
      return { ...read, path, start };
    },
  };
}

/** Number of bytes to read from the start of a page, to find its title and its first links. */
const HEAD_BYTES = 64 * 1024;
/** Maximum bytes of a page that docshelf searches for an anchor. The search takes 30 ms for each MiB. */
const PAGE_BYTES_MAX = 2 * 1024 ** 2;
const READS_MAX = 8;
/** Maximum pages to read to detect whether links to pages end in `.html`. Reading more pages would block the thread. */
const FORM_SAMPLE_MAX = 12;
/** Maximum cached titles. Each entry takes some 200 bytes. */
const TITLES_MAX = 10_000;

/** Number of page addresses to compute in one turn of the event loop. A turn takes about 2 ms. */
const TURN_PAGES = 1_000;

const NOT_FOUND = /(?:^|\/)(?:404|_not-found)(?:\.x?html?|\/index\.x?html?)$/i;

interface AddressBook {
  readonly form: ReaderForm;
  readonly addresses: readonly string[];
  readonly entries: ReadonlyMap<string, FileEntry>;
}

/** Pages of a site, with the same addresses as in search results. Reads each page on its first use. */
class SitePages {
  readonly #scheduler = new Scheduler(READS_MAX);
  readonly #books = new WeakMap<ReleaseView, Promise<AddressBook>>();
  /** Cached titles of pages, by the SHA-256 of the page. Versions share most pages, and so also their cached titles. */
  readonly #titles = new LRUCache<string, { readonly title: string | null }>({
    maxSize: TITLES_MAX,
    sizeCalculation: () => 1,
  });

  async list(snapshot: SiteSnapshot): Promise<readonly string[]> {
    return (await this.#bookOf(snapshot)).addresses;
  }

  async addressOf(snapshot: SiteSnapshot, path: string): Promise<string | null> {
    if (NOT_FOUND.test(path)) return null;
    return readerUrl(path, (await this.#bookOf(snapshot)).form, snapshot.release.files);
  }

  async htmlOf({ release }: SiteSnapshot, path: string): Promise<string | null> {
    const entry = release.files.get(path);
    if (entry === undefined || entry.size > PAGE_BYTES_MAX) return null;
    return this.#scheduler.run(() => readStart(release, entry, PAGE_BYTES_MAX)).catch(() => null);
  }

  /** Returns the titles of pages. The title is null if a page has none or cannot be read. @param addresses addresses from `list` */
  async titles(snapshot: SiteSnapshot, addresses: readonly string[]): Promise<readonly (string | null)[]> {
    const { release } = snapshot;
    const { entries } = await this.#bookOf(snapshot);
    const titleAt = (address: string) => {
      const entry = entries.get(address);
      return entry === undefined ? null : this.#titleOf(release, entry);
    };
    return Promise.all(addresses.map(titleAt));
  }

  async #titleOf(release: ReleaseView, entry: FileEntry): Promise<string | null> {
    const known = this.#titles.get(entry.sha256);
    if (known !== undefined) return known.title;
    const html = await this.#scheduler.run(() => readStart(release, entry, HEAD_BYTES)).catch(() => null);
    if (html === null) return null;
    const { title } = readFirstPage(html);
    this.#titles.set(entry.sha256, { title });
    return title;
  }

  #bookOf({ release, pages }: SiteSnapshot): Promise<AddressBook> {
    const known = this.#books.get(release);
    if (known !== undefined) return known;
    const made = this.#write(release, pages);
    this.#books.set(release, made);
    return made;
  }

  async #write(release: ReleaseView, paths: PagePaths): Promise<AddressBook> {
    const pages = [...release.files.values()].filter(
      ({ path }) => isPage(path) && !isWithheld(path) && !NOT_FOUND.test(path),
    );
    const forms = new PageForms(release.files);
    const stride = Math.max(1, Math.ceil(pages.length / FORM_SAMPLE_MAX));
    for (const entry of pages.filter((_, at) => at % stride === 0)) {
      const html = await this.#scheduler.run(() => readStart(release, entry, HEAD_BYTES)).catch(() => null);
      if (html !== null) forms.addPage(entry.path, html);
    }
    const form = { trailingSlash: release.trailingSlash, extension: forms.extension() };
    const entries = new Map<string, FileEntry>();
    const { open } = await paths.openPages(pages);
    for (const [at, entry] of open.entries()) {
      if (at % TURN_PAGES === 0) await setImmediate();
      entries.set(readerUrl(entry.path, form, release.files), entry);
    }
    return { form, addresses: [...entries.keys()].sort(), entries };
  }
}

async function readStart({ siteDir }: ReleaseView, { path, type, size }: FileEntry, bytesMax: number): Promise<string> {
  return pageText(await readBeginning(join(siteDir, path), Math.min(size, bytesMax)), type);
}
