/** Letters that Unicode does not take apart into a base and a mark. */
const PLAIN: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', ł: 'l', ħ: 'h', ı: 'i', þ: 'th' },
  /** Final sigma. */
  ς: 'σ',
};
/** Combining diacritics, Hebrew points, Arabic vowel signs and tatweel, and what is invisible within a word. */
const MARKS = /[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u00ad\u2060\p{Join_C}]/gu;
/** `⑴` is the number `(1)` to NFKC. */
const NO_LETTERS = /[^\p{L}\p{N}\p{M}_.+#-]/gu;
const ASCII = /^[\x00-\x7f]*$/;

/**
 * A word as the index knows it: lower case, without diacritics, full-width forms as plain ones. Marks that are letters
 * of their own (Indic vowel signs, Japanese voicing, Korean jamo) stay.
 */
export function fold(word: string): string {
  if (ASCII.test(word)) return word.toLowerCase();
  return word
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFD')
    .replace(MARKS, '')
    .normalize('NFC')
    .replace(/[ßæœøđðłħıþς]/g, (letter) => PLAIN[letter] ?? letter)
    .replace(NO_LETTERS, '');
}
