export interface ParsedQuery {
  /** All words to rank by, those of phrases among them, as text. */
  readonly wanted: string;
  /** In quotes: a section that lacks one is no hit, unless `isQuestion`. */
  readonly phrases: readonly string[];
  /** More stands outside of quotes than a search has: then a quote marks a word, and demands nothing. */
  readonly isQuestion: boolean;
  readonly unwanted: readonly string[];
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
/** A phrase in quotes, or a minus before one or before a word of two letters and more (`-g` and `--global` are looked for). */
const OPERATOR =
  /(?<=^|\s)-(?:["\u201c\u201d\u201e]([^"\u201c\u201d\u201e]*)["\u201c\u201d]|([\p{L}\p{N}_][^\s"\u201c\u201d\u201e]+))|["\u201c\u201d\u201e]([^"\u201c\u201d\u201e]*)["\u201c\u201d]/gu;

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
