import { isStopWord } from '../../src/search/keyword/english.ts';
import type { Random } from './random.ts';

const WORD = /[A-Za-z]{4,}/g;
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];

/**
 * Misspells one word of four letters or more by one edit, never its first letter. Without such a word, the query stays
 * unchanged.
 */
export function misspell(query: string, random: Random): string {
  const words = [...query.matchAll(WORD)].filter(([word]) => !isStopWord(word.toLowerCase(), word));
  if (words.length === 0) return query;
  const { 0: word, index } = random.oneOf(words);
  return query.slice(0, index) + edited(word, random) + query.slice(index + word.length);
}

function edited(word: string, random: Random): string {
  const at = 1 + random.below(word.length - 1);
  const [before, after] = [word.slice(0, at), word.slice(at)];
  const letter = random.oneOf(LETTERS);
  switch (random.below(4)) {
    case 0:
      return before + after.slice(1);
    case 1:
      return before + letter + after;
    case 2:
      return before + letter + after.slice(1);
    default:
      return before.slice(0, -1) + after.slice(0, 1) + before.slice(-1) + after.slice(1);
  }
}
