import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type FileEntry, type FileTable, isPage, type TrailingSlash } from '../../domain/release.ts';
import { pageText } from '../../web/page-text.ts';
import { tooLargeToCarry } from '../bundle-data/too-large-to-carry.ts';
import { Duplicates, type ExtractedPage, extractPage, PageForms, readerUrl, sphinxVersion } from '../extract/index.ts';
import type { Section } from '../section.ts';
import type { KeptPages } from './kept-pages.ts';
import { PagePriors } from './page-priors.ts';
import { linksOf, printsOf, summaryOf } from './page-summary.ts';
import { SiteSections } from './site-sections.ts';

/** A release's table, or a map by path in the order of the paths. Entries are made as they are gone through: 100,000 take 30 MiB. */
export type SiteFiles = Pick<FileTable, 'has' | 'get' | 'values'>;

export interface PagesOfSite {
  readonly siteDir: string;
  readonly files: SiteFiles;
  readonly trailingSlash: TrailingSlash;
  /** Paths of pages that are not read. */
  readonly leftOut?: ReadonlySet<string>;
  /** Called with the path of each page that may take the process along, before it is read, and with null after it. */
  readonly onLargePage?: (path: string | null) => void;
}

/** Pages that show how the site writes its addresses: from all over it, since languages may differ. */
const FORM_SAMPLE_MAX = 60;
/** Of tags or attributes alone a page takes up to a hundred times its size (measured): smaller ones always fit. */
const LARGE_PAGE_BYTES = 256 * 1024;

/** Each section once, in the order of pages. @throws DocshelfError `bad_search_data` over `sectionsMax` */
export async function readSections(
  { siteDir, files, trailingSlash, leftOut, onLargePage }: PagesOfSite,
  spoolFile: string,
  { sectionsMax = Number.POSITIVE_INFINITY, kept }: { readonly sectionsMax?: number; readonly kept?: KeptPages } = {},
): Promise<SiteSections> {
  const form = { trailingSlash, extension: await extensionOf(siteDir, files) };
  const version = await siteVersion(siteDir, files);
  const urlOf = (path: string): string => readerUrl(path, form, files);
  const extract = ({ path, size }: FileEntry, url: string, html: string): ExtractedPage | null => {
    const isLarge = size > LARGE_PAGE_BYTES;
    if (isLarge) onLargePage?.(path);
    const page = extractPage({ path, html, url, version });
    if (isLarge) onLargePage?.(null);
    return page;
  };
  const readAgain = (path: string): readonly Section[] => {
    const entry = files.get(path);
    if (entry === undefined) return [];
    return extract(entry, urlOf(path), textOf(siteDir, entry))?.sections ?? [];
  };
  const priors = new PagePriors(pagesOf(files).map(({ path }) => urlOf(path)));
  const duplicates = new Duplicates();
  using opened = new DisposableStack();
  const sections = opened.use(new SiteSections(spoolFile, readAgain));
  for (const entry of pagesOf(files)) {
    const { path, sha256, type } = entry;
    if (leftOut?.has(path)) continue;
    const url = urlOf(path);
    let words: ExtractedPage | null = null;
    const read = async () => {
      words = extract(entry, url, await readText(siteDir, entry));
      return words && summaryOf(words);
    };
    const page = await (kept === undefined ? read() : kept.page(path, { sha256, type, url, version }, read));
    if (page === null) continue;
    priors.add(page.page, linksOf(page));
    const sectionsRead = (words as ExtractedPage | null)?.sections ?? null;
    sections.beginPage(page.page, sectionsRead === null ? path : null);
    for (const [place, { fingerprint, digest }] of printsOf(page).entries()) {
      const verdict = duplicates.add(page, fingerprint, sections.nextNumber);
      if (!verdict.kept) continue;
      if (verdict.replaced !== null) sections.drop(verdict.replaced);
      sections.add(place, digest, sectionsRead?.[place] ?? null);
    }
    if (sections.count > sectionsMax) throw tooLargeToCarry(`it has more than ${sectionsMax} sections`);
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
  for (const entry of pagesOf(files).filter((_, at) => at % stride === 0))
    forms.addPage(entry.path, await readText(siteDir, entry));
  return forms.extension();
}

/** Sphinx from version 7 on says its version in a file beside the pages. */
async function siteVersion(siteDir: string, files: SiteFiles): Promise<string | null> {
  const options = files.get('_static/documentation_options.js');
  return options === undefined ? null : sphinxVersion(await readText(siteDir, options));
}

/** In the thread itself, which waited for the pool a sixth of its time; between two pages it hears what it is told. */
async function readText(siteDir: string, entry: FileEntry): Promise<string> {
  await setImmediate();
  return textOf(siteDir, entry);
}

function textOf(siteDir: string, { path, type }: FileEntry): string {
  return pageText(readFileSync(join(siteDir, path)), type);
}
