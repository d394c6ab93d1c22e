import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileEntry, isPage, type TrailingSlash } from '../domain/release.ts';
import { Duplicates, type ExtractedPage, extractPage, PageForms, readerUrl, sphinxVersion } from './extract/index.ts';
import type { IndexedSection } from './keyword/index.ts';

/** A release's site, as the index is made of it. */
export interface SiteSource {
  readonly siteDir: string;
  readonly files: readonly FileEntry[];
  readonly trailingSlash: TrailingSlash;
}

/** Pages that are looked at to learn how the site writes its addresses: from all over it, since languages may differ. */
const FORM_SAMPLE_MAX = 60;

/**
 * The sections of all pages of a site, each once, in the order of their pages, with the weight of their page.
 *
 * Holds the text of the whole site in memory: a few hundred megabytes for the largest documentation there is, in a thread of
 * its own that ends with the work.
 */
export async function readSections(site: SiteSource): Promise<IndexedSection[]> {
  const pages = await readPages(site);
  const duplicates = new Duplicates<IndexedSection>();
  const dropped = new Set<IndexedSection>();
  const priors = priorsOf(pages);
  const sections: IndexedSection[] = [];
  for (const page of pages) {
    const prior = priors.get(page.page) ?? 0;
    for (const section of page.sections) {
      const indexed = { ...section, page: page.page, prior };
      const verdict = duplicates.add(page, section, indexed);
      if (!verdict.kept) continue;
      if (verdict.replaced !== null) dropped.add(verdict.replaced);
      sections.push(indexed);
    }
  }
  return sections.filter((section) => !dropped.has(section));
}

async function readPages({ siteDir, files, trailingSlash }: SiteSource): Promise<ExtractedPage[]> {
  const table = new Map(files.map((entry) => [entry.path, entry]));
  const pageFiles = files.filter((entry) => isPage(entry.path));
  const form = { trailingSlash, extension: await extensionOf(siteDir, pageFiles, table) };
  const version = await siteVersion(siteDir, table);
  const pages: ExtractedPage[] = [];
  for (const entry of pageFiles) {
    const url = readerUrl(entry.path, form, table);
    const page = extractPage({ path: entry.path, html: await readText(siteDir, entry), url, version });
    if (page !== null) pages.push(page);
  }
  return pages;
}

async function extensionOf(
  siteDir: string,
  pages: readonly FileEntry[],
  table: ReadonlyMap<string, FileEntry>,
): Promise<'keep' | 'drop'> {
  const forms = new PageForms(table);
  const stride = Math.max(1, Math.floor(pages.length / FORM_SAMPLE_MAX));
  for (let at = 0; at < pages.length; at += stride) {
    const entry = pages[at];
    if (entry !== undefined) forms.addPage(entry.path, await readText(siteDir, entry));
  }
  return forms.extension();
}

/** Sphinx from version 7 on says its version in a file beside the pages. */
async function siteVersion(siteDir: string, table: ReadonlyMap<string, FileEntry>): Promise<string | null> {
  const options = table.get('_static/documentation_options.js');
  return options === undefined ? null : sphinxVersion(await readText(siteDir, options));
}

async function readText(siteDir: string, entry: FileEntry): Promise<string> {
  const bytes = await readFile(join(siteDir, entry.path));
  const charset = /charset=([^;]+)/i.exec(entry.type)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    // A charset that nobody knows: the bytes are readable as far as they are ASCII.
    return bytes.toString('latin1');
  }
}

/**
 * How much each page matters by the pages whose text links to it: 0 to 1, by the logarithm, since the tenth link says less
 * than the first.
 */
function priorsOf(pages: readonly ExtractedPage[]): Map<string, number> {
  const links = new Map<string, number>();
  const urlOf = new Map(pages.map(({ page }) => [plain(page), page]));
  for (const page of pages) {
    for (const link of page.links) {
      const target = urlOf.get(plain(link));
      if (target !== undefined && target !== page.page) links.set(target, (links.get(target) ?? 0) + 1);
    }
  }
  const most = Math.log1p(Math.max(1, ...links.values()));
  return new Map([...links].map(([page, count]) => [page, Math.log1p(count) / most]));
}

/** A page's address without what differs between the ways of writing it. */
function plain(path: string): string {
  return path
    .replace(/[#?].*$/, '')
    .replace(/(?:\/index)?\.x?html?$/i, '')
    .replace(/\/$/, '');
}
