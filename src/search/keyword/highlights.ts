import { pairsOf, spellingsOf } from './terms.ts';
import { type Word, wordsOf } from './words.ts';

/** Where a word of the query stands in a text, in UTF-16 code units. */
export interface Highlight {
  readonly start: number;
  readonly end: number;
}

/** The places in a text that the matched terms of a hit are found at, in its order, touching ones as one. Pure. */
export function highlightsOf(text: string, matched: readonly string[]): Highlight[] {
  const terms = new Set(matched);
  const places = wordsOf(text).flatMap((word) =>
    word.kind === 'run' ? placesInRun(word, terms) : placeOf(word, terms),
  );
  const merged: Highlight[] = [];
  for (const place of places.sort((left, right) => left.start - right.start)) {
    const last = merged.at(-1);
    if (last === undefined || place.start > last.end) merged.push(place);
    else merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, place.end) };
  }
  return merged;
}

function placeOf({ folded, parts, start, end }: Word, terms: ReadonlySet<string>): Highlight[] {
  const isMatched = [folded, ...parts].some((each) => spellingsOf(each).some((term) => terms.has(term)));
  return isMatched ? [{ start, end }] : [];
}

/** The pairs and the single characters of a run that are matched. */
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
