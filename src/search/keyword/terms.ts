import { stem } from './stem.ts';
import { wordsOf } from './words.ts';

/** In the order of postings and lengths. */
export const COLUMNS = ['title', 'headings', 'text', 'identifiers'] as const;
export const TEXT = 2;
export const IDENTIFIERS = 3;

export interface TextTerms {
  /** One term a position, so that phrases are found; a run of n characters gives n - 1 pairs and its last character. */
  readonly sequence: string[];
  /** Single characters of runs that the sequence does not hold. */
  readonly characters: string[];
  /** Parts of compound words, and words joined by dots or hyphens as a whole. */
  readonly identifiers: string[];
}

export function isEnglish(language: string | null): boolean {
  return language === null || /^en(?:$|[-_])/i.test(language);
}

/** @param termOf the term of a folded word: its stem in English, itself elsewhere. */
export function termsOf(text: string, termOf: (surface: string) => string): TextTerms {
  const terms: TextTerms = { sequence: [], characters: [], identifiers: [] };
  for (const word of wordsOf(text)) {
    if (word.kind === 'joined') terms.identifiers.push(word.folded);
    else if (word.kind === 'run') addRun(terms, word.folded);
    else {
      terms.sequence.push(termOf(word.folded));
      for (const part of word.parts) terms.identifiers.push(termOf(part));
    }
  }
  return terms;
}

function addRun(terms: TextTerms, run: string): void {
  const characters = [...run];
  const last = characters.pop();
  if (last === undefined) return;
  terms.sequence.push(...pairsOf(run), last);
  terms.characters.push(...characters);
}

export function pairsOf(run: string): string[] {
  const characters = [...run];
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}

/** A query word's terms in the index: stemmed in English sections, as it is in others. */
export function spellingsOf(surface: string): string[] {
  const stemmed = stem(surface);
  return stemmed === surface ? [surface] : [stemmed, surface];
}
