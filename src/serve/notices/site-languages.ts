import { LRUCache } from 'lru-cache';
import { ARCHIVE_LIMITS } from '../../domain/limits.ts';
import type { ReleaseView } from '../../domain/release.ts';
import { Scheduler } from '../../threads/scheduler.ts';
import { resolvePath } from '../../web/resolve.ts';
import { ENGLISH, languageOf, type PageLanguage } from '../../web/words/index.ts';
import { readFirstAt } from '../first-pages.ts';

/** Folders whose language is kept: 100 bytes each. As a size, which takes no memory before the first. */
const FOLDERS_MAX = 1024;

/** The language of docshelf's own words on a site: that of the first page of the nearest folder that has one. */
export class SiteLanguages {
  readonly #release: ReleaseView;
  /** By first page; null where it says none that words are in. */
  readonly #known = new LRUCache<string, { readonly said: PageLanguage | null }>({
    maxSize: FOLDERS_MAX,
    sizeCalculation: () => 1,
  });
  /** A page is read once, whoever asks. */
  readonly #scheduler = new Scheduler(1);

  constructor(release: ReleaseView) {
    this.#release = release;
  }

  /** Undefined where a page has to be read first. @param path decoded, without a leading slash */
  known(path: string): PageLanguage | undefined {
    for (const { page } of this.#folders(path)) {
      const known = this.#known.get(page);
      if (known === undefined) return undefined;
      if (known.said !== null) return known.said;
    }
    return ENGLISH;
  }

  /** English, too, where a page cannot be read: that is tried again the next time. */
  async at(path: string): Promise<PageLanguage> {
    for (const { folder, page } of this.#folders(path)) {
      const said = await this.#scheduler.run(() => this.#read(folder, page)).catch(() => null);
      if (said !== null) return said;
    }
    return ENGLISH;
  }

  async #read(folder: string, page: string): Promise<PageLanguage | null> {
    const known = this.#known.get(page);
    if (known !== undefined) return known.said;
    const { language } = await readFirstAt(this.#release, folder);
    const said = language === null ? null : languageOf(language);
    this.#known.set(page, { said });
    return said;
  }

  /** With first pages, the deepest first. */
  *#folders(path: string): Iterable<{ folder: string; page: string }> {
    // No release is deeper.
    const names = path.split('/', ARCHIVE_LIMITS.depthMax + 1).slice(0, -1);
    for (let depth = names.length; depth >= 0; depth--) {
      const folder = names.slice(0, depth).join('/');
      const found = resolvePath(this.#release.files, folder, 'never');
      if (found.kind === 'file') yield { folder, page: found.path };
    }
  }
}
