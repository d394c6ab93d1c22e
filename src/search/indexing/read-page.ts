import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileEntry } from '../../domain/release.ts';
import { pageText } from '../../web/media-type.ts';
import { rankOf } from '../extract/duplicates.ts';
import { extractPage } from '../extract/extract-page.ts';
import { cutPassages } from '../extract/passages.ts';
import type { Passage, Section } from '../ports.ts';
import { isSecondary } from './page-priors.ts';

interface PageToRead extends Pick<FileEntry, 'path' | 'type'> {
  readonly url: string;
  /** Version of the documentation for a page that states no version. */
  readonly version: string | null;
}

interface PageForIndex {
  readonly distance: number;
  readonly links: readonly string[];
  readonly isSecondary: boolean;
  readonly sections: readonly SectionInPassages[];
}

export function readPage(siteDir: string, { path, type, url, version }: PageToRead): PageForIndex | null {
  const read = extractPage({ path, html: textOf(siteDir, { path, type }), url, version });
  if (read === null) return null;
  return {
    distance: rankOf(read).distance,
    links: read.links,
    isSecondary: isSecondary(read.page, read.title),
    sections: read.sections.map((section) => ({ section, passages: cutPassages(section.text, estimateTokens) })),
  };
}

export function textOf(siteDir: string, { path, type }: Pick<FileEntry, 'path' | 'type'>): string {
  return pageText(readFileSync(join(siteDir, path)), type);
}

export interface SectionInPassages {
  readonly section: Section;
  readonly passages: readonly Passage[];
}

/** Text in a script without spaces, such as Chinese, has about one token per character. */
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/gu;

/** Latin text has 4.4 characters per token with MiniLM's vocabulary. Code and other alphabets have fewer characters per token. */
const CHARACTERS_A_TOKEN = 3.8;

/**
 * Estimates the tokens of a text, because an exact count takes as long as indexing. Passages of 220 tokens leave room for errors:
 * the model reads 256.
 */
function estimateTokens(text: string): number {
  const dense = text.match(DENSE)?.length ?? 0;
  return Math.ceil(dense + (text.length - dense) / CHARACTERS_A_TOKEN);
}
