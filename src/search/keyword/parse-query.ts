/** A query, taken apart. */
export interface ParsedQuery {
  /** All words to rank by, those of phrases among them, as text. */
  readonly wanted: string;
  /** Phrases in quotes: a section that lacks one is no hit, but for `isQuestion`. */
  readonly phrases: readonly string[];
  /** True where more is outside of quotes than a search has: then a quote marks a word, and demands nothing. */
  readonly isQuestion: boolean;
  /** Words and phrases behind a minus: a section that has one is no hit. */
  readonly unwanted: readonly string[];
  /** True where the text ends within a word, which may go on as the reader types. */
  readonly unfinished: boolean;
}

/** The contract allows 1,000 characters; a character may be two code units. */
const QUERY_LENGTH_MAX = 2_000;
/** More quotes or minuses than anybody types; each costs up to 20 ms at 100,000 sections. */
const OPERATORS_MAX = 6;
/**
 * `retry "max attempts"` wants the phrase; `In which cases is a process "type correct" when it sends messages?` only
 * stresses it: to demand it there cost .03 of nDCG@10 on CACM.
 */
const LOOSE_WORDS_MAX = 5;
const WORD = /[\p{L}\p{N}]+/gu;
/**
 * A minus at the start of a word, then a quoted phrase or a word of two letters and more (`-g` is an option that somebody
 * looks for, and so is `--global`); or a quoted phrase. A quote that is never closed is none.
 */
const OPERATOR =
  /(?<=^|\s)-(?:["\u201c\u201d\u201e]([^"\u201c\u201d\u201e]*)["\u201c\u201d]|([\p{L}\p{N}_][^\s"\u201c\u201d\u201e]+))|["\u201c\u201d\u201e]([^"\u201c\u201d\u201e]*)["\u201c\u201d]/gu;

/** Pure; every text is a query. */
export function parseQuery(text: string): ParsedQuery {
  const phrases: string[] = [];
  const unwanted: string[] = [];
  const bounded = text.slice(0, QUERY_LENGTH_MAX);
  const wanted = bounded.replace(OPERATOR, (all, notPhrase, notWord, phrase) => {
    if (phrases.length + unwanted.length >= OPERATORS_MAX) return ` ${all} `;
    if (phrase === undefined) {
      unwanted.push(notPhrase ?? notWord);
      return ' ';
    }
    phrases.push(phrase);
    return ` ${phrase} `;
  });
  const loose = bounded.replace(OPERATOR, ' ').match(WORD)?.length ?? 0;
  return {
    wanted,
    phrases,
    isQuestion: loose > LOOSE_WORDS_MAX,
    unwanted,
    unfinished: /[\p{L}\p{N}\p{M}_]$/u.test(wanted),
  };
}
