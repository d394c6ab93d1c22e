import { lettersByScript } from '../semantic/scripts.ts';

/**
 * A word of another script within a query is a name or a symbol; where more than this part of the letters is foreign, the model would
 * judge by what is left.
 */
const UNREADABLE_PART_MAX = 0.25;

/**
 * On which sections a model votes, by their language; null where it cannot read the query, and so votes on none.
 *
 * A section that says no language is taken to be in one that the query's writer reads.
 */
export function votesOf(
  query: string,
  reads: (language: string) => boolean,
): ((language: string | null) => boolean) | null {
  let letters = 0;
  let unreadable = 0;
  for (const [script, count] of lettersByScript(query)) {
    letters += count;
    if (!reads(`und-${script}`)) unreadable += count;
  }
  if (unreadable > letters * UNREADABLE_PART_MAX) return null;
  return (language) => language === null || reads(language);
}
