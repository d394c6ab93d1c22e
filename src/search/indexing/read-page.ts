import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileEntry } from '../../domain/release.ts';
import { pageText } from '../../web/page-text.ts';
import { extractPage } from '../extract/index.ts';
import type { Section } from '../section.ts';
import { cutSection } from './cut-section.ts';
import { type PageSummary, summaryOf } from './page-summary.ts';

export interface PagesFrom {
  readonly siteDir: string;
  /** For pages that say none. */
  readonly version: string | null;
}

export interface PageToRead extends Pick<FileEntry, 'path' | 'type'> {
  readonly url: string;
}

/** What indexing needs of a page, as another thread may tell it. */
export interface PageForIndex {
  readonly summary: PageSummary;
  /** Each section, cut, as JSON. */
  readonly sections: readonly string[];
}

/** Null for one that is not searched. */
export function readPage(from: PagesFrom, page: PageToRead): PageForIndex | null {
  const read = extractFrom(from, page);
  if (read === null) return null;
  return { summary: summaryOf(read), sections: read.sections.map((section) => JSON.stringify(cutSection(section))) };
}

export function sectionsOf(from: PagesFrom, page: PageToRead): readonly Section[] {
  return extractFrom(from, page)?.sections ?? [];
}

function extractFrom({ siteDir, version }: PagesFrom, { path, type, url }: PageToRead) {
  return extractPage({ path, html: textOf(siteDir, { path, type }), url, version });
}

export function textOf(siteDir: string, { path, type }: Pick<FileEntry, 'path' | 'type'>): string {
  return pageText(readFileSync(join(siteDir, path)), type);
}
