import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileEntry, isPage, type TrailingSlash } from '../../domain/release.ts';
import { pageText } from '../../web/page-text.ts';
import { tooLargeToCarry } from '../bundle-data/too-large-to-carry.ts';
import { Duplicates, type ExtractedPage, extractPage, PageForms, readerUrl, sphinxVersion } from '../extract/index.ts';
import type { KeptPages } from './kept-pages.ts';
import { PagePriors } from './page-priors.ts';
import { printsOf, summaryOf } from './page-summary.ts';
import { SiteSections } from './site-sections.ts';

export interface PagesOfSite {
  readonly siteDir: string;
  readonly files: readonly FileEntry[];
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
  const table = new Map(files.map((entry) => [entry.path, entry]));
  const pageFiles = files.filter((entry) => isPage(entry.path));
  const form = { trailingSlash, extension: await extensionOf(siteDir, pageFiles, table) };
  const version = await siteVersion(siteDir, table);
  const urlOf = ({ path }: FileEntry): string => readerUrl(path, form, table);
  const priors = new PagePriors(pageFiles.map(urlOf));
  const duplicates = new Duplicates();
  using opened = new DisposableStack();
  const sections = opened.use(new SiteSections(spoolFile));
  for (const entry of pageFiles) {
    const { path, sha256, size, type } = entry;
    if (leftOut?.has(path)) continue;
    const url = urlOf(entry);
    const extract = (html: string): ExtractedPage | null => {
      const isLarge = size > LARGE_PAGE_BYTES;
      if (isLarge) onLargePage?.(path);
      const page = extractPage({ path, html, url, version });
      if (isLarge) onLargePage?.(null);
      return page;
    };
    let words: ExtractedPage | null = null;
    const read = async () => {
      words = extract(await readText(siteDir, entry));
      return words && summaryOf(words);
    };
    const page = await (kept === undefined ? read() : kept.page(path, { sha256, type, url, version }, read));
    if (page === null) continue;
    priors.add(page.page, page.links);
    const readAgain = () => extract(pageText(readFileSync(join(siteDir, path)), type))?.sections ?? [];
    const sectionsRead = (words as ExtractedPage | null)?.sections ?? null;
    sections.beginPage(page.page, sectionsRead === null ? readAgain : null);
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

async function extensionOf(siteDir: string, pages: readonly FileEntry[], table: ReadonlyMap<string, FileEntry>) {
  const forms = new PageForms(table);
  const stride = Math.max(1, Math.floor(pages.length / FORM_SAMPLE_MAX));
  const sample = pages.filter((_, at) => at % stride === 0);
  for (const entry of sample) forms.addPage(entry.path, await readText(siteDir, entry));
  return forms.extension();
}

/** Sphinx from version 7 on says its version in a file beside the pages. */
async function siteVersion(siteDir: string, table: ReadonlyMap<string, FileEntry>): Promise<string | null> {
  const options = table.get('_static/documentation_options.js');
  return options === undefined ? null : sphinxVersion(await readText(siteDir, options));
}

async function readText(siteDir: string, entry: FileEntry): Promise<string> {
  return pageText(await readFile(join(siteDir, entry.path)), entry.type);
}
