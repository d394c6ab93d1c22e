import { setImmediate } from 'node:timers/promises';
import { type FileEntry, type FileTable, isPage, type TrailingSlash } from '../../domain/release.ts';
import { tooLargeToCarry } from '../bundle-data/too-large-to-carry.ts';
import { Duplicates, PageForms, readerUrl, sphinxVersion } from '../extract/index.ts';
import { FINGERPRINT_BYTES } from '../fingerprints.ts';
import type { KeptPages } from './kept-pages.ts';
import { PagePriors } from './page-priors.ts';
import { PageReaders, type ReadersOptions } from './page-readers.ts';
import { SECTION_BYTES } from './page-summary.ts';
import { textOf } from './read-page.ts';
import { SiteSections } from './site-sections.ts';

/** A release's table, or a map by path in the order of the paths. Entries are made as they are gone through: 100,000 take 30 MiB. */
export type SiteFiles = Pick<FileTable, 'has' | 'get' | 'values'>;

export interface PagesOfSite extends Pick<ReadersOptions, 'onLargePage'> {
  readonly siteDir: string;
  readonly files: SiteFiles;
  readonly trailingSlash: TrailingSlash;
  /** Paths of pages that are not read. */
  readonly leftOut?: ReadonlySet<string>;
}

/** Pages that show how the site writes its addresses: from all over it, since languages may differ. */
const FORM_SAMPLE_MAX = 60;

interface ReadOptions extends Pick<ReadersOptions, 'threadsMax'> {
  readonly sectionsMax?: number;
  /** Sections, about. */
  readonly expected?: number | undefined;
  readonly kept?: KeptPages;
}

/** Each section once, in the order of pages. @throws DocshelfError `bad_search_data` over `sectionsMax` */
export async function readSections(
  { siteDir, files, trailingSlash, leftOut, onLargePage }: PagesOfSite,
  spoolFile: string,
  { sectionsMax = Number.POSITIVE_INFINITY, expected, kept, threadsMax = 0 }: ReadOptions = {},
): Promise<SiteSections> {
  const form = { trailingSlash, extension: await extensionOf(siteDir, files) };
  const version = siteVersion(siteDir, files);
  const urlOf = (path: string): string => readerUrl(path, form, files);
  await using readers = new PageReaders({ siteDir, version }, { threadsMax, onLargePage });
  const readAgain = (path: string) => {
    const entry = files.get(path);
    return entry === undefined ? [] : readers.again(entry, urlOf(path));
  };
  const urls = Array.from(pagesOf(files), ({ path }) => urlOf(path));
  const priors = new PagePriors(urls);
  const duplicates = new Duplicates(expected);
  using opened = new DisposableStack();
  const sections = opened.use(new SiteSections(spoolFile, readAgain));
  const begun = pagesOf(files)
    .map((entry, number) => ({ entry, number, url: urls[number] as string }))
    .filter(({ entry }) => leftOut?.has(entry.path) !== true)
    .map(({ entry, number, url }) => {
      const { path, sha256, type } = entry;
      const identity = { path, sha256, type, url, version };
      const known = kept?.find(identity) ?? null;
      return { number, identity, known, read: known === null ? readers.begin(entry, url) : null };
    });
  for (const { number, identity, known, read } of ahead(begun, readers.ahead)) {
    const words = (await read?.()) ?? null;
    const summary = known === null ? (words?.summary ?? null) : known.summary;
    if (known === null) kept?.add(identity, summary);
    else kept?.keep(known);
    if (summary === null) continue;
    const { path, url: page } = identity;
    priors.add(number, summary.links);
    sections.beginPage(page, words === null ? path : null);
    const rank = { page, distance: summary.distance };
    const prints = summary.sections;
    for (let place = 0; SECTION_BYTES * place < prints.length; place += 1) {
      const verdict = duplicates.add(rank, prints, sections.nextNumber, SECTION_BYTES * place);
      if (!verdict.kept) continue;
      if (verdict.replaced !== null) sections.drop(verdict.replaced);
      sections.add(place, prints, SECTION_BYTES * place + FINGERPRINT_BYTES, words?.sections[place] ?? null);
    }
    if (sections.count > sectionsMax) throw tooLargeToCarry(`it has more than ${sectionsMax} sections`);
  }
  sections.weigh(priors.decide());
  opened.move();
  return sections;
}

/** Each once so many after it have been made. */
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

/** Sphinx from version 7 on says its version in a file beside the pages. */
function siteVersion(siteDir: string, files: SiteFiles): string | null {
  const options = files.get('_static/documentation_options.js');
  return options === undefined ? null : sphinxVersion(textOf(siteDir, options));
}
