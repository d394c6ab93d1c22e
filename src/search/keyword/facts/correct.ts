import { isStopWord } from '../stop-words.ts';
import { spellingsOf } from '../terms.ts';
import type { Vocabulary } from '../vocabulary.ts';
import { wordsOf } from '../words.ts';

interface CorrectionDictionary {
  readonly vocabulary: Pick<Vocabulary, 'startingWith' | 'near'>;
  sectionsWith(term: string): number;
}

/** Words of a query that are looked at; one costs up to 5 ms. */
const CORRECTED_MAX = 8;
const HAS_DIGIT = /\p{N}/u;

/** The query with the nearest word of the site in place of each that it does not have. @param unfinished the last word may go on */
export function correctedQuery(query: string, unfinished: boolean, dictionary: CorrectionDictionary): string | null {
  const words = wordsOf(query).filter(({ kind }) => kind === 'word');
  let corrected = '';
  let copied = 0;
  let looked = 0;
  for (const { folded, parts, start, end } of words) {
    const isLast = end === words.at(-1)?.end;
    if (start < copied || parts.length > 0 || HAS_DIGIT.test(folded) || isStopWord(folded, query.slice(start, end)))
      continue;
    if (spellingsOf(folded).some((term) => dictionary.sectionsWith(term) > 0)) continue;
    if (isLast && unfinished && dictionary.vocabulary.startingWith(folded, 1).length > 0) continue;
    looked += 1;
    const [nearest] = looked > CORRECTED_MAX ? [] : dictionary.vocabulary.near(folded, 1);
    if (nearest === undefined) continue;
    corrected += query.slice(copied, start) + nearest.word;
    copied = end;
  }
  return copied === 0 ? null : corrected + query.slice(copied);
}
