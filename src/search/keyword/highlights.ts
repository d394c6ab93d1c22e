import { pairsOf, spellingsOf } from './terms.ts';
import { wordsOf } from './words.ts';

/** Where a word of the query stands in a text, in UTF-16 code units. */
export interface Highlight {
  readonly start: number;
  readonly end: number;
}

/** The places in a text that the matched terms of a hit are found at, in its order, touching ones as one. Pure. */
export function highlightsOf(text: string, matched: readonly string[]): Highlight[] {
  const terms = new Set(matched);
  const found: Highlight[] = [];
  const add = (start: number, end: number) => {
    const last = found.at(-1);
    if (last !== undefined && start <= last.end)
      found[found.length - 1] = { start: last.start, end: Math.max(end, last.end) };
    else found.push({ start, end });
  };
  for (const { kind, folded, parts, start, end } of wordsOf(text)) {
    if (kind === 'run') {
      // Folding may change the length of a run; then its places are not known, and it is marked as a whole.
      const exact = folded.length === end - start;
      let at = start;
      for (const pair of pairsOf(folded)) {
        if (terms.has(pair)) add(exact ? at : start, exact ? at + pair.length : end);
        at += [...pair][0]?.length ?? 0;
      }
      for (const character of terms) {
        if ([...character].length > 1) continue;
        for (let from = folded.indexOf(character); from >= 0; from = folded.indexOf(character, from + 1))
          add(exact ? start + from : start, exact ? start + from + character.length : end);
      }
    } else if (
      terms.has(folded) ||
      [folded, ...parts].some((each) => spellingsOf(each).some((term) => terms.has(term)))
    )
      add(start, end);
  }
  return found;
}
