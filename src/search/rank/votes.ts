import { lettersByScript } from '../semantic/scripts.ts';

/**
 * A word of another script within a query is a name or a symbol; where more than this part of the letters is foreign, the model would
 * judge by what is left.
 */
const UNREADABLE_PART_MAX = 0.25;

/** Whether a model votes on a query at all: one that cannot read it does not. */
export function votesOn(query: string, reads: (language: string) => boolean): boolean {
  let letters = 0;
  let unreadable = 0;
  for (const [script, count] of lettersByScript(query)) {
    letters += count;
    if (!reads(`und-${script}`)) unreadable += count;
  }
  return unreadable <= letters * UNREADABLE_PART_MAX;
}

/**
 * Whether it votes on the sections of a language. A section that says none is taken to be in one that the query's writer
 * reads.
 */
export function votesIn(language: string | null, reads: (language: string) => boolean): boolean {
  return language === null || reads(language);
}
