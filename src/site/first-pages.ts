import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { ARCHIVE_LIMITS } from '../domain/limits.ts';
import type { ReleaseView } from '../domain/release.ts';
import { readBeginning } from '../files/index.ts';
import { Scheduler } from '../threads/scheduler.ts';
import { linkedPath, ownUrl } from '../web/escape.ts';
import type { FirstPage } from '../web/first-page.ts';
import { pageText } from '../web/media-type.ts';
import { resolvePath } from '../web/resolve.ts';
import { ENGLISH, languageOf, type PageLanguage } from '../web/words/index.ts';

/** Maximum bytes of a page to read for its title and language. The head of a page with inline styles can have 100 KB. */
const HEAD_BYTES = 512 * 1024;
const READS_MAX = 4;
/** Maximum meta refreshes to follow from a start page. Some start pages only redirect to the page of a language or version. */
const REFRESHES_MAX = 3;

const NOTHING: FirstPage = { title: null, description: null, language: null, refresh: null };

/** Reads facts of each release once. After an error, returns `otherwise`, and the next call tries again. Never rejects. */
export function oncePerRelease<Facts>(read: (release: ReleaseView) => Promise<Facts>, otherwise: Facts) {
  const known = new WeakMap<ReleaseView, Promise<Facts>>();
  const readAgain = (release: ReleaseView): Promise<Facts> =>
    read(release).catch(() => {
      known.delete(release);
      return otherwise;
    });
  return (release: ReleaseView): Promise<Facts> => {
    const facts = known.get(release) ?? readAgain(release);
    known.set(release, facts);
    return facts;
  };
}

/** Facts of start pages. All are null if the page is missing, unreadable, or redirects to another site. */
export function firstPages(): (release: ReleaseView) => Promise<FirstPage> {
  const scheduler = new Scheduler(READS_MAX);
  return oncePerRelease((release) => scheduler.run(() => readFirstAt(release, '')), NOTHING);
}

async function readFirstAt(release: ReleaseView, path: string): Promise<FirstPage> {
  // Load the HTML parser late: it takes 20 ms, and a daemon with one site and no shelf page does not need it at start.
  const { readFirstPage } = await import('../web/first-page.ts');
  let asked = path;
  let before = '';
  let page = NOTHING;
  for (let refreshes = 0; refreshes <= REFRESHES_MAX; refreshes++) {
    const found = resolvePath(release.files, asked, 'never');
    const entry = found.kind === 'file' ? release.files.get(found.path) : undefined;
    if (entry === undefined) return NOTHING;
    // A page that refreshes itself is not a redirect. It only reloads at an interval.
    if (entry.path === before) return page;
    page = readFirstPage(pageText(await readHead(join(release.siteDir, entry.path)), entry.type));
    const next =
      page.refresh === null ? null : linkedPath(page.refresh, ownUrl(entry.path, release.builtFor), release.builtFor);
    if (next === null) return page.refresh === null ? page : NOTHING;
    before = entry.path;
    asked = next;
  }
  return NOTHING;
}

export const readHead = (file: string): Promise<Buffer> => readBeginning(file, HEAD_BYTES);

/** Maximum folders whose language is cached, 100 bytes each. Used as `maxSize` of the LRU cache: `max` would reserve memory. */
const FOLDERS_MAX = 1024;

/** Selects the language of docshelf's texts on a page, from the index page of the nearest folder that names a supported language. */
export class SiteLanguages {
  readonly #release: ReleaseView;
  /** Languages by path of an index page. `declared` is null if the page names no supported language. */
  readonly #known = new LRUCache<string, { readonly declared: PageLanguage | null }>({
    maxSize: FOLDERS_MAX,
    sizeCalculation: () => 1,
  });
  readonly #scheduler = new Scheduler(1);

  constructor(release: ReleaseView) {
    this.#release = release;
  }

  known(path: string): PageLanguage | undefined {
    for (const { page } of this.#folders(path)) {
      const known = this.#known.get(page);
      if (known === undefined) return undefined;
      if (known.declared !== null) return known.declared;
    }
    return ENGLISH;
  }

  /** Language for a path, from the nearest index page that names one. Skips index pages that cannot be read. Default: English. */
  async at(path: string): Promise<PageLanguage> {
    for (const { folder, page } of this.#folders(path)) {
      const declared = await this.#scheduler.run(() => this.#read(folder, page)).catch(() => null);
      if (declared !== null) return declared;
    }
    return ENGLISH;
  }

  async #read(folder: string, page: string): Promise<PageLanguage | null> {
    const known = this.#known.get(page);
    if (known !== undefined) return known.declared;
    const { language } = await readFirstAt(this.#release, folder);
    const declared = language === null ? null : languageOf(language);
    this.#known.set(page, { declared });
    return declared;
  }

  *#folders(path: string): Iterable<{ folder: string; page: string }> {
    const names = path.split('/', ARCHIVE_LIMITS.depthMax + 1).slice(0, -1);
    for (let depth = names.length; depth >= 0; depth--) {
      const folder = names.slice(0, depth).join('/');
      const found = resolvePath(this.#release.files, folder, 'never');
      if (found.kind === 'file') yield { folder, page: found.path };
    }
  }
}
