import { isStopWord } from '../keyword/stop-words.ts';
import { pairsOf, spellingsOf } from '../keyword/terms.ts';
import { wordsOf } from '../keyword/words.ts';

/**
 * Which part of a query's words, stop words left out, a site knows: 0 to 1, and 0 for a query without words.
 *
 * @param matched the index terms that the query's hits were found by. A rare word brings its sections to the top, so that
 *   among some 200 hits every word that is in the index is matched by one.
 */
export function knownPart(query: string, matched: ReadonlySet<string>): number {
  let words = 0;
  let known = 0;
  for (const word of wordsOf(query)) {
    // The words that it joins follow it.
    if (word.kind === 'joined') continue;
    if (word.kind === 'word' && isStopWord(word.folded, query.slice(word.start, word.end))) continue;
    const pairs = word.kind === 'run' ? pairsOf(word.folded) : [];
    const terms = word.kind === 'run' && pairs.length > 0 ? pairs : spellingsOf(word.folded);
    words += 1;
    if (terms.some((term) => matched.has(term))) known += 1;
  }
  return words === 0 ? 0 : known / words;
}
