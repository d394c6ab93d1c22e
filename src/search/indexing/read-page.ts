import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileEntry } from '../../domain/release.ts';
import { pageText } from '../../web/media-type.ts';
import { extractPage, fingerprintOf, rankOf } from '../extract/index.ts';
import { joined } from '../fingerprints.ts';
import { cutSection } from './cut-section.ts';
import { linkPrints } from './page-priors.ts';

export interface PagesFrom {
  readonly siteDir: string;
  /** For pages that say none. */
  readonly version: string | null;
}

export interface PageToRead extends Pick<FileEntry, 'path' | 'type'> {
  readonly url: string;
}

/** The parts of a page that indexing needs, as plain data for another thread. */
export interface PageForIndex {
  /** Distance of `PageRank`. */
  readonly distance: number;
  /** Result of `linkPrints`. */
  readonly links: Uint8Array;
  /** Fingerprint of each section, one after the other. */
  readonly fingerprints: Uint8Array;
  /** Each section, cut, as JSON. */
  readonly sections: readonly string[];
}

/** Null for a page that is not searched. */
export function readPage(from: PagesFrom, page: PageToRead): PageForIndex | null {
  const read = extractFrom(from, page);
  if (read === null) return null;
  return {
    distance: rankOf(read).distance,
    links: linkPrints(read.links),
    fingerprints: joined(read.sections.map(fingerprintOf)),
    sections: read.sections.map((section) => JSON.stringify(cutSection(section))),
  };
}

function extractFrom({ siteDir, version }: PagesFrom, { path, type, url }: PageToRead) {
  return extractPage({ path, html: textOf(siteDir, { path, type }), url, version });
}

export function textOf(siteDir: string, { path, type }: Pick<FileEntry, 'path' | 'type'>): string {
  return pageText(readFileSync(join(siteDir, path)), type);
}
