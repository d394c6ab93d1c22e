import { setImmediate } from 'node:timers/promises';
import { type FileEntry, type FileTable, isPage, type TrailingSlash } from '../../domain/release.ts';
import { Duplicates, PageForms, readerUrl, sphinxVersion } from '../extract/index.ts';
import { FINGERPRINT_BYTES } from '../fingerprints.ts';
import { PagePriors } from './page-priors.ts';
import { PageReaders, type ReadersOptions } from './page-readers.ts';
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

/** Reads each section once, in the order of pages. */
export async function readSections(
  { siteDir, files, trailingSlash, leftOut, onLargePage }: PagesOfSite,
  spoolFile: string,
  { threadsMax = 0 }: Pick<ReadersOptions, 'threadsMax'> = {},
): Promise<SiteSections> {
  const form = { trailingSlash, extension: await extensionOf(siteDir, files) };
  const version = siteVersion(siteDir, files);
  const urlOf = (path: string): string => readerUrl(path, form, files);
  await using readers = new PageReaders({ siteDir, version }, { threadsMax, onLargePage });
  const urls = Array.from(pagesOf(files), ({ path }) => urlOf(path));
  const priors = new PagePriors(urls);
  const duplicates = new Duplicates();
  using opened = new DisposableStack();
  const sections = opened.use(new SiteSections(spoolFile));
  const begun = pagesOf(files)
    .map((entry, number) => ({ entry, number, url: urls[number] as string }))
    .filter(({ entry }) => leftOut?.has(entry.path) !== true)
    .map(({ entry, number, url }) => ({ number, page: url, read: readers.begin(entry, url) }));
  for (const { number, page, read } of ahead(begun, readers.ahead)) {
    const words = await read();
    if (words === null) continue;
    const { distance, links, fingerprints } = words;
    priors.add(number, links);
    sections.beginPage(page);
    const rank = { page, distance };
    for (const [place, json] of words.sections.entries()) {
      const verdict = duplicates.add(rank, fingerprints, sections.nextNumber, FINGERPRINT_BYTES * place);
      if (!verdict.kept) continue;
      if (verdict.replaced !== null) sections.drop(verdict.replaced);
      sections.add(json);
    }
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
