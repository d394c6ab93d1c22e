import { cutPassages } from '../extract/index.ts';
import type { Passage, Section } from '../section.ts';

export interface SectionInPassages {
  readonly section: Section;
  readonly passages: readonly Passage[];
}

export function cutSection(section: Section): SectionInPassages {
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
