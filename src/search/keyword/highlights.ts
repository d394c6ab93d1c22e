import { stem } from './stem.ts';
import { pairsOf } from './terms.ts';
import { type Word, wordsOf } from './words.ts';

/** In UTF-16 code units. */
export interface Highlight {
  readonly start: number;
  readonly end: number;
}

export function highlightsOf(text: string, matched: readonly string[]): Highlight[] {
  const terms = new Set(matched);
  const isMatched = matcherOf(terms);
  const places: Highlight[] = [];
  for (const word of wordsOf(text)) {
    if (word.kind === 'run') places.push(...placesInRun(word, terms));
    else if (isMatched(word.folded) || word.parts.some(isMatched)) places.push({ start: word.start, end: word.end });
  }
  const merged: Highlight[] = [];
  for (const place of places.sort((left, right) => left.start - right.start)) {
    const last = merged.at(-1);
    if (last === undefined || place.start > last.end) merged.push(place);
    else merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, place.end) };
  }
  return merged;
}

/** Matches words or their stems. A stem begins as its word does, so most words need not be stemmed. */
function matcherOf(terms: ReadonlySet<string>): (word: string) => boolean {
  const initials = new Set(Array.from(terms, (term) => term.charCodeAt(0)));
  const known = new Map<string, boolean>();
  return (word) => {
    if (!initials.has(word.charCodeAt(0))) return false;
    const before = known.get(word);
    if (before !== undefined) return before;
    const isMatched = terms.has(word) || terms.has(stem(word));
    known.set(word, isMatched);
    return isMatched;
  };
}

function placesInRun({ folded, start, end }: Word, terms: ReadonlySet<string>): Highlight[] {
  const places: Highlight[] = [];
  const pairs = pairsOf(folded);
  let at = start;
  for (const [number, character] of [...folded].entries()) {
    const pair = pairs[number];
    if (terms.has(character)) places.push({ start: at, end: at + character.length });
    if (pair !== undefined && terms.has(pair)) places.push({ start: at, end: at + pair.length });
    at += character.length;
  }
  // Where folding changed the run's length, its places are not known: it is marked as a whole.
  if (places.length > 0 && folded.length !== end - start) return [{ start, end }];
  return places;
}
