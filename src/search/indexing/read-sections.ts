import { setImmediate } from 'node:timers/promises';
import { type FileEntry, type FileTable, isPage, type TrailingSlash } from '../../domain/release.ts';
import { LineSpool, ownVersions } from '../../files/index.ts';
import { sphinxVersion } from '../../web/content/page-facts.ts';
import { Duplicates, fingerprintOf } from '../extract/duplicates.ts';
import { PageForms, readerUrl } from '../extract/reader-url.ts';
import type { IndexedSection } from '../keyword/index-writer.ts';
import type { Passage } from '../ports.ts';
import { PagePriors } from './page-priors.ts';
import { readPage, type SectionInPassages, textOf } from './read-page.ts';

/** Files of a site in path order. The file table creates entries on demand, because 100,000 entries take 30 MiB. */
export type SiteFiles = Pick<FileTable, 'has' | 'get' | 'values'>;

interface PagesOfSite {
  readonly siteDir: string;
  readonly files: SiteFiles;
  readonly trailingSlash: TrailingSlash;
  readonly leftOut?: ReadonlySet<string>;
  /** Called with the path before a large page is read, because reading may kill the process. Called with null after the page. */
  readonly onLargePage?: (path: string | null) => void;
}

/**
 * Maximum pages to read to learn whether links have a file extension. docshelf selects them from the whole site, because its
 * languages may differ.
 */
const FORM_SAMPLE_MAX = 60;

/**
 * Size of a page above which docshelf reports its path before reading. Reading such a page can exceed the memory limit: a page of
 * only tags or attributes takes up to 100 times its size (measured).
 */
export const LARGE_PAGE_BYTES = 256 * 1024;

export async function readSections(
  { siteDir, files, trailingSlash, leftOut, onLargePage = () => undefined }: PagesOfSite,
  spoolFile: string,
): Promise<SiteSections> {
  const form = { trailingSlash, extension: await extensionOf(siteDir, files) };
  // From Sphinx 7 on, `_static/documentation_options.js` contains the version of the documentation.
  const options = files.get('_static/documentation_options.js');
  const version = options === undefined ? null : sphinxVersion(textOf(siteDir, options));
  const urlOf = (path: string): string => readerUrl(path, form, files);
  const folders = await ownVersions({ files, siteDir });
  const versionOf = (path: string): string | null => {
    const folder = folders.find((each) => path.startsWith(each));
    return folder?.split('/').at(-2) ?? version;
  };
  const priors = new PagePriors(Array.from(pagesOf(files), ({ path }) => urlOf(path)));
  const duplicates = new Duplicates();
  using opened = new DisposableStack();
  const sections = opened.use(new SiteSections(spoolFile));
  for (const { path, type, size } of pagesOf(files)) {
    if (leftOut?.has(path) === true) continue;
    await setImmediate();
    const isLarge = size > LARGE_PAGE_BYTES;
    if (isLarge) onLargePage(path);
    const page = urlOf(path);
    const read = readPage(siteDir, { path, type, url: page, version: versionOf(path) });
    if (isLarge) onLargePage(null);
    if (read === null) continue;
    priors.add(page, read.links, read.isSecondary);
    sections.beginPage(page);
    const rank = { page, distance: read.distance };
    for (const section of read.sections) {
      const verdict = duplicates.add(rank, fingerprintOf(section.section), sections.nextNumber);
      if (!verdict.kept) continue;
      if (verdict.replaced !== null) sections.drop(verdict.replaced);
      sections.add(JSON.stringify(section));
    }
  }
  sections.weigh(priors.decide());
  opened.move();
  return sections;
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
