export interface Word {
  /**
   * `joined` is an identifier with signs, such as `server.port` or `C++`. Its words follow it in the list. `run` is text in a
   * script without spaces.
   */
  readonly kind: 'word' | 'joined' | 'run';
  readonly folded: string;
  /** Word in lower case, with diacritics, which stemmers need. */
  readonly spelling: string;
  /** Words inside a word, or other spellings of a joined identifier: `nodejs` for `Node.js`, `1.2.3` for `v1.2.3`. */
  readonly parts: readonly string[];
  readonly start: number;
  readonly end: number;
}

/**
 * Matches a word, or several words joined by a dot, a hyphen, an apostrophe, or one of `/:@#\`, such as `Node.js`, or a number
 * with commas. `++` or `#` may end the name of a programming language. Soft hyphens and zero-width joiners do not split a word.
 */
const JOINED =
  /[\p{L}\p{N}_][\p{L}\p{N}\p{M}_\p{Join_C}\u00ad\u2060]*(?:(?:[.\-\u2010\u2011'\u00b7]|[/:@#\\]{1,3}|(?<=\p{N}),(?=\p{N}{3}(?!\p{N})))[\p{L}\p{N}_][\p{L}\p{N}\p{M}_\p{Join_C}\u00ad\u2060]*)*(?:\+\+|#(?![\p{L}\p{N}_]))?/gu;
const HAS_JOINT = /[.\-\u2010\u2011'\u00b7/:@#\\,+]/;
const OUTER_SIGN = /[/:@#\\]/;
/** Matches an apostrophe, or the middle dot of Catalan, as in `col·lecció`. */
const APOSTROPHE = /['\u00b7]/;
/** Characters to replace with `'`: other apostrophes, and quotes in Hebrew abbreviations. Each is one UTF-16 code unit. */
const APOSTROPHES =
  /[\u00b4\u2018\u2019\u201b\u2032\uff07]|(?<=\p{Script=Hebrew})["\u05f3\u05f4\u201d](?=\p{Script=Hebrew})/gu;
/** Signs between the parts of a path, address or number, but not the `#` at the end of `C#`. */
const OUTER_JOINT = /[/:@#\\,]+(?=[^/:@#\\,])/g;
const JOINT = /[.\-\u2010\u2011]/g;
/** Matches a shortened `is`, `had`, `am`, `are`, `have` or `will`, or a possessive. */
const SHORTENED = /^(.+)'(?:s|d|m|re|ve|ll)$/iu;
/** Words that an apostrophe or a middle dot does not split: `don't`, `col·lecció`, Ukrainian and Hebrew words. */
const ONE_WORD = /^(?:\p{L}*n't|\p{L}*l\u00b7l\p{L}*|[\p{Script=Cyrillic}\p{Script=Hebrew}']+)$/iu;
/** Matches Romance articles and pronouns, as in `l'eau` and `dell'acqua`. */
const ELISION = /^(?:[cdjlmnst]|(?:jus|lors|puis|quoi)?qu|un|(?:d|n|s)?[ae]ll|sull|coll)$/iu;
/** Signs that belong to the following identifier, as in `.NET`, `@media` and `~1.2.0`. One or two dashes mark an option. */
const SIGIL = /[.@$#%!:\\<~^]/;
const COMPARISON = /^[<>~!=]=|~>$/;
const DASH = /[-\u2013\u2212]/;
const OPENING = /[\s()[\]{}<>"'`|,;=\u00ab\u2018\u201c\u201e]/;
/** Scripts that write no spaces between words, such as Chinese, and Korean, which attaches particles to words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u3005\u3006\u3099\u309a\u30fc\uff70\uff9e\uff9f]+/gu;
const ASCII = /^[\x00-\x7f]*$/;
const LOWER = /^[a-z]+$/;
const CAPITALISED = /^[A-Z][a-z]*$/;
const HUMP = /[^\p{Lu}_]\p{Lu}|\p{Lu}{2}\p{Ll}|[^_]_+[^_]/u;
const PART = /\p{Lu}+(?!\p{Ll})\p{N}*|\p{Lu}?[^\p{Lu}\p{N}_]+\p{N}*|\p{N}+/gu;
const PLURAL_CAPITALS = /^\p{Lu}{2,}s$/u;
/** Matches `HTTP2`, `16GiB` and `30s`, but neither `u64` nor hexadecimal data. */
const LETTERS_AND_DIGITS = /^(?:\p{L}{2,}\p{N}+\p{L}*|\p{N}+(?:\p{L}{2,}\p{N}*|[ghkmstwx]))$/u;
const DECIMAL_WITH_UNIT = /^(\p{N}+\.\p{N}+)(\p{L}{1,4})$/u;
const DOTTED_NAME = /^\p{L}[^.]*(?:\.\p{L}[^.]*)+$/u;
const GROUPED_DIGITS = /^\p{N}{1,3}(?:[._]\p{N}{3})+$/u;
const DOTTED_NUMBER = /(?<![\p{N}.])v?(\p{N}+(?:\.\p{N}+)+)(?![\p{L}\p{N}]|\.\p{N})/iu;
const WORD_LENGTH_MAX = 100;
const JOINED_WORDS_MAX = 8;
/** Maximum letters of an identifier with two parts, such as `Node.js`, that docshelf also indexes as one word: `nodejs`. */
const ONE_WORD_LENGTH_MAX = 16;
/** Maximum letters after the dot or slash of an identifier such as `Node.js`. A longer part is a file extension or a file in a folder. */
const SUFFIX_LENGTH_MAX = 3;

export function wordsOf(written: string): Word[] {
  const words: Word[] = [];
  const text = written.replace(APOSTROPHES, "'");
  for (const match of text.matchAll(JOINED)) {
    const [found] = match;
    const sigil = sigilBefore(text, match.index);
    if (sigil > 0) {
      const sign = DASH.test(text[match.index - 1] ?? '') ? '-' : text.slice(match.index - sigil, match.index);
      addSigned(words, sign, found, { start: match.index - sigil, end: match.index + found.length });
    }
    if (text[match.index + found.length] === '<') addGeneric(words, text, match.index, found);
    if (HAS_JOINT.test(found)) addJoined(words, found, match.index);
    else addPiece(words, found, match.index);
  }
  return words;
}

/** Number of signs directly before an identifier that are a part of it, such as `--` in `--help` and `$` in `$HOME`. */
function sigilBefore(text: string, start: number): number {
  const last = text[start - 1];
  if (last === undefined || last === ' ' || last === '\n') return 0;
  let length = 0;
  if (DASH.test(last)) length = last === '-' && text[start - 2] === '-' ? 2 : 1;
  else if ((last === ':' && text[start - 2] === ':') || COMPARISON.test(text.slice(start - 2, start))) length = 2;
  else if (SIGIL.test(last)) length = 1;
  if (length === 0) return 0;
  const before = text[start - length - 1];
  return before === undefined || OPENING.test(before) ? length : 0;
}

/** Adds `vector<` for `std::vector<int>`, so that the type differs from an ordinary word, whatever its parameters are. */
function addGeneric(words: Word[], text: string, start: number, found: string): void {
  const end = start + found.length;
  if (!/^[\p{L}_?]/u.test(text.slice(end + 1, end + 3))) return;
  const type = /[\p{L}_][\p{L}\p{N}_]*$/u.exec(found.slice(-WORD_LENGTH_MAX))?.[0].split(UNSPACED).at(-1) ?? '';
  if (type === '' || type.length === WORD_LENGTH_MAX) return;
  words.push({ kind: 'joined', ...plain(`${fold(type)}<`), start: end - type.length, end: end + 1 });
}

function addSigned(words: Word[], sign: string, found: string, place: Pick<Word, 'start' | 'end'>): void {
  if (found.length > WORD_LENGTH_MAX || found.search(UNSPACED) >= 0) return;
  const folded = sign + fold(found);
  // `-Xmx512m` and `-j8` are the options `-Xmx` and `-j` with a value.
  const option = /^(-\p{L}+)\p{N}/u.exec(folded)?.[1];
  words.push({ kind: 'joined', ...plain(folded), parts: option === undefined ? [] : [option], ...place });
}

function addJoined(words: Word[], found: string, start: number): void {
  if (!HAS_JOINT.test(found)) addPiece(words, found, start);
  else if (APOSTROPHE.test(found)) addShortened(words, found, start);
  else if (found.search(OUTER_JOINT) < 0) addInner(words, found, start);
  else addParts(words, found, found.split(OUTER_JOINT), start);
}

function addShortened(words: Word[], found: string, start: number): void {
  const long = SHORTENED.exec(found)?.[1];
  if (long !== undefined) addJoined(words, long, start);
  else if (ONE_WORD.test(found)) addWord(words, found, start);
  else {
    const pieces = found.split(APOSTROPHE);
    if (!ELISION.test(pieces[0] ?? '')) addName(words, found, fold(pieces.join('')), [], start);
    addPieces(words, found, pieces, start);
  }
}

function addInner(words: Word[], found: string, start: number): void {
  const [, number, unit = ''] = DECIMAL_WITH_UNIT.exec(found) ?? [];
  // Split `hikari.maximum-pool-size` first at the dot, so that one piece is the identifier `maximum-pool-size`.
  const joint = found.includes('-') && DOTTED_NAME.test(found) ? '.' : JOINT;
  const pieces = (number ?? found.replace(/(?:\+\+|#)$/, '')).split(joint);
  if (number === undefined) addParts(words, found, pieces, start);
  else {
    addParts(words, found, [...pieces, unit], start);
    addName(words, found, number, [], start);
  }
}

function addParts(words: Word[], found: string, pieces: readonly string[], start: number): void {
  const folded = fold(found.replaceAll(',', ''));
  if (pieces.length <= JOINED_WORDS_MAX) addName(words, found, folded, otherSpellings(folded), start);
  // Add `1.2.3` for `tool-1.2.3`, but not for `1.2.3-rc.1`, which is another version.
  const version = found.includes('.') ? DOTTED_NUMBER.exec(folded) : null;
  if (version !== null && version.index > 0 && !OUTER_SIGN.test(folded))
    addName(words, found, version[1] ?? '', [], start);
  addPieces(words, found, pieces, start);
}

function addPieces(words: Word[], found: string, pieces: readonly string[], start: number): void {
  let at = 0;
  for (const piece of pieces) {
    // Search for the position of each piece, because the signs between pieces, such as `.` and `::`, differ in length.
    at = found.indexOf(piece, at);
    if (piece === found) addPiece(words, piece, start);
    else addJoined(words, piece, start + at);
    at += piece.length;
  }
}

function addName(words: Word[], found: string, folded: string, parts: readonly string[], start: number): void {
  if (found.length > WORD_LENGTH_MAX || found.search(UNSPACED) >= 0) return;
  words.push({ kind: 'joined', folded, spelling: folded, parts, start, end: start + found.length });
}

/** Matches `ISO-8859-1`, `python3.12` and `CVE-2024-1234`, which people also write as one word. */
const NUMBERED_NAME = /^\p{L}{2,}[.-]?\p{N}+(?:[.-]\p{N}+)+$/u;
const TWO_WORDS = /^([^.\-/\u2010\u2011]+)([.\-/\u2010\u2011])([^.\-/:@#\\\u2010\u2011+]+)$/u;

function otherSpellings(name: string): string[] {
  if (/^v\p{N}+(?:\.\p{N}+)+$/u.test(name)) return [name.slice(1)];
  if (GROUPED_DIGITS.test(name) && name.length > 7) return [name.replaceAll('.', '')];
  if (name.length <= ONE_WORD_LENGTH_MAX && NUMBERED_NAME.test(name)) return [name.replace(/[.-]/g, '')];
  const [, first = '', joint, second = ''] = TWO_WORDS.exec(name) ?? [];
  if (joint === undefined || first.length + second.length > ONE_WORD_LENGTH_MAX) return [];
  if (/\p{N}$/u.test(first) && /^\p{N}/u.test(second)) return [];
  if (joint !== '-' && second.length > SUFFIX_LENGTH_MAX) return [];
  return [first + second];
}

/** True for an identifier. False for an ordinary word, which may have hyphens or apostrophes between letters. */
export function isTechnical(name: string): boolean {
  return !/^\p{L}+(?:[-'\u2010\u2011\u2018\u2019]\p{L}+)*$/u.test(name);
}

export function isNumbered(folded: string): boolean {
  return LETTERS_AND_DIGITS.test(folded);
}

function addPiece(words: Word[], piece: string, start: number): void {
  let at = 0;
  for (const match of ASCII.test(piece) ? [] : piece.matchAll(UNSPACED)) {
    addWord(words, piece.slice(at, match.index), start + at);
    at = match.index + match[0].length;
    words.push({ kind: 'run', ...plain(fold(match[0])), start: start + match.index, end: start + at });
  }
  addWord(words, piece.slice(at), start + at);
}

export function plain(folded: string): Surface {
  return { folded, spelling: folded, parts: NO_PARTS };
}

/** Words without parts share this array, so that millions of words do not each allocate an array. */
const NO_PARTS: readonly string[] = Object.freeze([]);

function addWord(words: Word[], word: string, start: number): void {
  if (LOWER.test(word)) {
    const end = start + word.length;
    if (end - start <= WORD_LENGTH_MAX)
      words.push({ kind: 'word', folded: word, spelling: word, parts: NO_PARTS, start, end });
    return;
  }
  const folded = fold(word);
  if (folded === '' || folded.length > WORD_LENGTH_MAX || /^_+$/.test(folded)) return;
  const spelling = ASCII.test(word) ? folded : word.normalize('NFKC').toLowerCase().replace(INVISIBLE, '');
  words.push({ kind: 'word', folded, spelling, parts: partsOf(word, folded), start, end: start + word.length });
}

function partsOf(word: string, folded: string): readonly string[] {
  if (CAPITALISED.test(word) || /^0x[\da-f]+$/.test(folded)) return NO_PARTS;
  if (GROUPED_DIGITS.test(word)) return [word.replaceAll('_', '')];
  const humps = HUMP.test(word) && !PLURAL_CAPITALS.test(word) ? (word.match(PART) ?? []).map(fold) : [];
  const parts = humps.length > 1 ? humps : [];
  if (!LETTERS_AND_DIGITS.test(folded)) return parts;
  const runs = (folded.match(/\p{N}+|\P{N}+/gu) ?? []).filter((run) => run.length > 1 || /\p{N}/u.test(run));
  return [...new Set([...parts, ...runs])];
}

export interface FoundSymbol {
  readonly symbol: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Matches operators of at least two signs, brackets of templates and captures, mathematical signs, arrows, a single sign between
 * spaces, and the sign in `operator*`.
 */
const SYMBOLS =
  /\(\?[:=!<>]*|\[\^|\[[&=*]\]|(?<=\boperator ?)[!%&*+\-/<=>^|~](?![!%&*+\-/<=>^|~])|\{\{[#/>!^&{]?|\}\}|!?\[\[|\]\]|\{%-?|-?%\}|\{[#|:]|[#|]\}|[$#@%]\{|[$<]\(|[!#]\[|\[\]|\{\}|"""|'''|```|[!#$%&*+\-./:<=>?@\\^|~]{2,}|[\u00ac\u00b1\u00d7\u00f7\u2190-\u2194\u21d0-\u21d4\u2200-\u22ff]|[!#$%&*+/:<=>?@\\^~](?<=(?:^|\s).)(?=[.:]?(?:\s|$))/g;
const SYMBOL_LENGTH_MAX = 8;

export function symbolsOf(text: string): FoundSymbol[] {
  const symbols: FoundSymbol[] = [];
  for (const { 0: symbol, index: start } of text.matchAll(SYMBOLS)) {
    const end = start + symbol.length;
    const [before = ' ', after = ' '] = [text[start - 1], text[end]];
    const isEnd = /\s/.test(after);
    const punctuates = /^(?:\.+|[?!]+)$/.test(symbol) && isEnd && /[\p{L}\p{N}]/u.test(before);
    const isOption = /^-+$/.test(symbol) && /[\p{L}\p{N}]/u.test(after);
    const isName = symbol === '++' && /\p{Lu}/u.test(before);
    if (symbol.length > SYMBOL_LENGTH_MAX || punctuates || isOption || isName) continue;
    symbols.push({ symbol, start, end });
    // Add a variant of the symbol without the full stop of the sentence, the slash of the path in `#!/bin/sh`, or the last sign of `{{#`.
    const isStopped = symbol.length > 2 && isEnd && /[.:?!]$/.test(symbol);
    if (isStopped || symbol === '#!/' || /^\{[{%]./.test(symbol))
      symbols.push({ symbol: symbol.slice(0, -1), start, end: end - 1 });
  }
  return symbols;
}

const WITHOUT_LETTERS = /(?<=^|\s)[^\s\p{L}\p{N}]+(?=\s|$)/gu;
/** Matches a sign that is only a separator in a long heading, such as `|`. */
const SEPARATOR = /^[-\u2013\u2014|/:&\u00b7\u2022\u203a\u00bb.,;]$/;

/** Returns the symbols and brackets of a heading. @param wordsMax maximum words of a heading in which a separator is also a symbol */
export function headingSymbolsOf(heading: string, wordsMax: number): string[] {
  const symbols = new Set(symbolsOf(heading).map(({ symbol }) => symbol));
  // In a heading, index adjacent signs such as `? :` also as one symbol, `?:`.
  for (const [signs] of heading.matchAll(/(?<=^|\s)[^\s\p{L}\p{N}]+(?:\s+[^\s\p{L}\p{N}]+)*(?=\s|$)/gu))
    for (const symbol of [...signs.split(/\s+/), signs.replace(/\s/g, '')]) symbols.add(symbol);
  const isShort = heading.trim().split(/\s+/).length <= wordsMax;
  return [...symbols].filter((symbol) => isShort || !SEPARATOR.test(symbol));
}

/** Returns the signs between spaces, each with spellings to try: as typed, without quotes, punctuation, and closing brackets. */
export function askedSymbols(query: string): string[][] {
  const hasWords = /[\p{L}\p{N}]/u.test(query);
  return Array.from(query.matchAll(WITHOUT_LETTERS), ([found]) => {
    const spellings = [found];
    for (let bare = ''; bare !== spellings.at(-1); ) {
      bare = spellings.at(-1) ?? '';
      const inside = bare.replace(/^[("'`\u201c\u201d\u2018\u2019]+|[)"'`\u201c\u201d\u2018\u2019]+$/g, '');
      spellings.push(inside === bare && hasWords ? bare.replace(/[.,:;?!]$/, '') : inside);
    }
    return [...spellings, found.replace(/[)\]}]+$/, '')].filter((symbol) => symbol !== '');
  });
}

/** Signs directly before a word, as in `#[derive]` and `:::tip`. Excludes dashes, which mark an option. */
const LEADING_SIGNS = /(?<=^|\s)["'(`]*([^\s\p{L}\p{N}"'(`-]{2,})(?=[\p{L}\p{N}])/gu;

/** Signs after a word: two or more, as in `ptr->`, or one in `operator*`. Excludes punctuation, and the signs of names such as `C++`. */
const TRAILING_SIGNS =
  /(?<=\p{L})(?!\+\+)[!%&*+\-/<=>^|~?[\]{}]{2,8}(?=[()]*(?:\s|$))|(?<=\boperator ?)[!%&*+\-/<=>^|~](?=[()]*(?:\s|$))/gu;

/** Returns signs before or after words or between numbers, as in `2>&1`, each with the spellings to try. */
export function attachedSymbols(query: string): string[][] {
  const leading = Array.from(query.matchAll(LEADING_SIGNS), ([, signs = '']) => [
    signs,
    ...symbolsOf(`${signs}x`).map(({ symbol }) => symbol),
  ]);
  const trailing = Array.from(query.matchAll(TRAILING_SIGNS), ([signs]) => [signs]);
  const between =
    /\p{L}{2}/u.test(query) || !/[\p{L}\p{N}]/u.test(query) ? [] : symbolsOf(query).map(({ symbol }) => [symbol]);
  return [...leading, ...trailing, ...between];
}

/** Matches the number of a chapter or section, as in `13.3. Locking`, `F.1. Modules`, `Chapter 31. Replication` and `Part II: Use`. */
const NUMBERING =
  /^\s*(?:(?:chapter|appendix|part|section)\s+(?:\d+|[a-z]|[ivx]+)[.:]|(?:\p{L}+\s+)?(?:\p{L}\.)?\d+(?:\.\d+)*\.)\s+(?=\S)/iu;

/** Returns a key for the comparison of titles, equal for `What's new?` and `2.1. whats New`. */
export function titleKey(text: string): string {
  return wordsOf(text.replace(NUMBERING, '').replace(APOSTROPHES, "'").replaceAll("'", ''))
    .filter((word) => word.kind !== 'joined')
    .map((word) => word.folded)
    .join(' ');
}

/** Replacements for letters that Unicode does not decompose into base and mark, and for digits of other scripts. */
const BASES: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', ł: 'l', ħ: 'h', ı: 'i', þ: 'th' },
  ς: 'σ',
  ...Object.fromEntries(
    ['٠١٢٣٤٥٦٧٨٩', '۰۱۲۳۴۵۶۷۸۹', '०१२३४५६७८९'].flatMap((digits) =>
      Array.from(digits, (digit, at) => [digit, String(at)]),
    ),
  ),
};
/** Matches combining diacritics, Hebrew points, Arabic vowel signs and tatweel, the Hindi dot, and invisible characters. */
const MARKS = /[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u093c\u00ad\u02bc\u2060\p{Join_C}]/gu;
const INVISIBLE = /[\u0307'\u2018\u2019\uff07\u00b7\u00ad\u02bc\u0640\u2060\p{Join_C}]/gu;
/** Characters to remove after NFKC, which can add such characters: it converts `⑴` to `(1)`. */
const NO_LETTERS = /[^\p{L}\p{N}\p{M}_.+#/:@\\-]/gu;

/** Removes case, diacritics and width, but keeps Indic, Japanese and Korean marks, which are letters. */
export function fold(word: string): string {
  if (ASCII.test(word)) return word.toLowerCase().replace("'", '');
  return word
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFD')
    .replace(MARKS, '')
    .normalize('NFC')
    .replace(/[ßæœøđðłħıþς٠-٩۰-۹०-९]/g, (letter) => BASES[letter] ?? letter)
    .replace(NO_LETTERS, '');
}

export const COLUMNS = ['title', 'headings', 'text', 'identifiers'] as const;
export const TEXT = 2;
export const IDENTIFIERS = 3;

interface TextTerms {
  /**
   * Index terms in text order, for phrase search. Text without spaces has a term for each pair of characters, and for the last
   * character.
   */
  readonly sequence: string[];
  readonly characters: string[];
  /** Identifiers with signs, and parts of words such as `HTTP2`. Phrase search and column lengths ignore these terms. */
  readonly names: string[];
  readonly parts: string[];
}

export type Surface = Pick<Word, 'folded' | 'spelling' | 'parts'>;

export interface Terms {
  readonly termOf: (word: Surface) => string;
  readonly runOf: (run: string) => string;
}

export function termsOf(text: string, { termOf, runOf }: Terms): TextTerms {
  const terms: TextTerms = { sequence: [], characters: [], names: [], parts: [] };
  for (const word of wordsOf(text)) {
    if (word.kind === 'joined') terms.names.push(word.folded, ...word.parts);
    else if (word.kind === 'run') addRun(terms, runOf(word.folded));
    else {
      terms.sequence.push(termOf(word));
      const others = isNumbered(word.folded) ? terms.names : terms.parts;
      for (const part of word.parts) others.push(termOf(plain(part)));
    }
  }
  return terms;
}

function addRun(terms: TextTerms, run: string): void {
  const characters = [...run];
  const last = characters.pop();
  if (last === undefined) return;
  // Push in loops, because a run of more than 100,000 characters has too many for the arguments of one call.
  for (const pair of pairsOf(run)) terms.sequence.push(pair);
  terms.sequence.push(last);
  for (const character of characters) terms.characters.push(character);
}

export function pairsOf(run: string): string[] {
  const characters = [...run];
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}
