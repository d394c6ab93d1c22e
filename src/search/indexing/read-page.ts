import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileEntry } from '../../domain/release.ts';
import { pageText } from '../../web/media-type.ts';
import { joined } from '../compact.ts';
import { fingerprintOf, rankOf } from '../extract/duplicates.ts';
import { extractPage } from '../extract/extract-page.ts';
import { cutPassages } from '../extract/passages.ts';
import type { Passage, Section } from '../ports.ts';
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

export function textOf(siteDir: string, { path, type }: Pick<FileEntry, 'path' | 'type'>): string {
  return pageText(readFileSync(join(siteDir, path)), type);
}

export interface SectionInPassages {
  readonly section: Section;
  readonly passages: readonly Passage[];
}

function cutSection(section: Section): SectionInPassages {
  return { section, passages: cutPassages(section.text, estimateTokens) };
}

/** Scripts without spaces, about one character a token. */
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/gu;

/** Latin text has 4.4 characters a token with MiniLM's vocabulary, code and other alphabets fewer; 3.8 errs to the safe side. */
const CHARACTERS_A_TOKEN = 3.8;

/** About a text's tokens. The model's own count would cost as much as all of indexing; it reads 256, and passages have 220. */
function estimateTokens(text: string): number {
  const dense = text.match(DENSE)?.length ?? 0;
  return Math.ceil(dense + (text.length - dense) / CHARACTERS_A_TOKEN);
}

function extractFrom({ siteDir, version }: PagesFrom, { path, type, url }: PageToRead) {
  return extractPage({ path, html: textOf(siteDir, { path, type }), url, version });
}
