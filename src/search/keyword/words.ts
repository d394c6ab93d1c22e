import { stem } from './english.ts';

/** A piece of a text that the index knows, with its place in UTF-16 code units. */
export interface Word {
  /**
   * - `word`: letters and digits, `maxRetryCount` and `max_retry_count` too;
   * - `joined`: words held together by dots or hyphens, `server.port`, or `C++`; its words follow it;
   * - `run`: characters of a script that puts no spaces between words.
   */
  readonly kind: 'word' | 'joined' | 'run';
  /** Lower case, without diacritics. */
  readonly folded: string;
  /** The parts of a camelCase or snake_case word, folded; empty where it is one. */
  readonly parts: readonly string[];
  readonly start: number;
  readonly end: number;
}

/** Words joined by single dots or hyphens; `+` or `#` may end a language's name. Soft hyphens and joiners are invisible. */
const JOINED =
  /[\p{L}\p{N}_][\p{L}\p{N}\p{M}_\p{Join_C}\u00ad\u2060]*(?:[.\-\u2010\u2011][\p{L}\p{N}_][\p{L}\p{N}\p{M}_\p{Join_C}\u00ad\u2060]*)*(?:\+\+|#(?![\p{L}\p{N}_]))?/gu;
/** Texts with ASCII's letters and digits alone, as most are: the same pattern with small sets takes .16 ms for .23. */
const PLAIN = /^[\x00-\x7f\u00a0\u2012-\u205f\u2190-\u23ff\u2500-\u25ff]*$/;
const PLAIN_JOINED = /[A-Za-z0-9_]+(?:[.-][A-Za-z0-9_]+)*(?:\+\+|#(?![A-Za-z0-9_]))?/g;
const JOINT = /[.\-\u2010\u2011]/;
/** Scripts without spaces between words, and Korean, whose words carry their particles. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u3005\u3006\u3099\u309a\u30fc\uff70\uff9e\uff9f]+/gu;
const ASCII = /^[\x00-\x7f]*$/;
/** Has neither humps nor anything to fold. */
const LOWER = /^[a-z0-9]+$/;
const HUMP = /[^\p{Lu}_]\p{Lu}|\p{Lu}{2}\p{Ll}|[^_]_+[^_]/u;
const PART = /\p{Lu}+(?!\p{Ll})\p{N}*|\p{Lu}?[^\p{Lu}\p{N}_]+\p{N}*|\p{N}+/gu;
/** `URLs`, `IDs`: a plural, not a hump. */
const PLURAL_CAPITALS = /^\p{Lu}{2,}s$/u;
/** Longer is data, not a word. */
const WORD_LENGTH_MAX = 100;
const JOINED_WORDS_MAX = 8;

export function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  for (const match of text.matchAll(PLAIN.test(text) ? PLAIN_JOINED : JOINED)) {
    const [found] = match;
    if (isPossessive(text, found, match.index)) continue;
    if (JOINT.test(found) || /[+#]$/.test(found)) addJoined(words, found, match.index);
    else addPiece(words, found, match.index);
  }
  return words;
}

/** The `s` of `Claude's`. */
function isPossessive(text: string, found: string, start: number): boolean {
  return (found === 's' || found === 'S') && start > 1 && /[\p{L}\p{N}]['\u2019]/u.test(text.slice(start - 2, start));
}

function addJoined(words: Word[], found: string, start: number): void {
  const pieces = found.replace(/[+#]+$/, '').split(JOINT);
  if (found.length <= WORD_LENGTH_MAX && pieces.length <= JOINED_WORDS_MAX && found.search(UNSPACED) < 0)
    words.push({ kind: 'joined', folded: fold(found), parts: [], start, end: start + found.length });
  let at = start;
  for (const piece of pieces) {
    addPiece(words, piece, at);
    at += piece.length + 1;
  }
}

function addPiece(words: Word[], piece: string, start: number): void {
  let at = 0;
  for (const match of ASCII.test(piece) ? [] : piece.matchAll(UNSPACED)) {
    addWord(words, piece.slice(at, match.index), start + at);
    at = match.index + match[0].length;
    words.push({ kind: 'run', folded: fold(match[0]), parts: [], start: start + match.index, end: start + at });
  }
  addWord(words, piece.slice(at), start + at);
}

function addWord(words: Word[], word: string, start: number): void {
  if (LOWER.test(word)) {
    if (word.length <= WORD_LENGTH_MAX)
      words.push({ kind: 'word', folded: word, parts: [], start, end: start + word.length });
    return;
  }
  const folded = fold(word);
  if (folded === '' || folded.length > WORD_LENGTH_MAX || /^_+$/.test(folded)) return;
  const parts = HUMP.test(word) && !PLURAL_CAPITALS.test(word) ? (word.match(PART) ?? []).map(fold) : [];
  words.push({ kind: 'word', folded, parts: parts.length > 1 ? parts : [], start, end: start + word.length });
}

/** A title or a query as its words alone: `What's new?` and `what's  New` are the same. */
export function titleKey(text: string): string {
  return wordsOf(text)
    .filter((word) => word.kind !== 'joined')
    .map((word) => word.folded)
    .join(' ');
}

/** Letters that Unicode does not take apart into a base and a mark. */
const BASES: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', ł: 'l', ħ: 'h', ı: 'i', þ: 'th' },
  ς: 'σ',
};
/** Combining diacritics, Hebrew points, Arabic vowel signs and tatweel, and what is invisible within a word. */
const MARKS = /[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u00ad\u2060\p{Join_C}]/gu;
/** `⑴` is the number `(1)` to NFKC. */
const NO_LETTERS = /[^\p{L}\p{N}\p{M}_.+#-]/gu;

/** Without case, diacritics and width; marks that are letters of their own (Indic, Japanese, Korean) stay. */
function fold(word: string): string {
  if (ASCII.test(word)) return word.toLowerCase();
  return word
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFD')
    .replace(MARKS, '')
    .normalize('NFC')
    .replace(/[ßæœøđðłħıþς]/g, (letter) => BASES[letter] ?? letter)
    .replace(NO_LETTERS, '');
}

/** In the order of postings and lengths. */
export const COLUMNS = ['title', 'headings', 'text', 'identifiers'] as const;
export const TEXT = 2;
export const IDENTIFIERS = 3;

interface TextTerms {
  /** One term a position, so that phrases are found; a run of n characters gives n - 1 pairs and its last character. */
  readonly sequence: string[];
  /** Single characters of runs that the sequence does not hold. */
  readonly characters: string[];
  /** Parts of compound words, and words joined by dots or hyphens as a whole. */
  readonly identifiers: string[];
}

export function isEnglish(language: string | null): boolean {
  return language === null || /^en(?:$|[-_])/i.test(language);
}

/** @param termOf the term of a folded word: its stem in English, itself elsewhere. */
export function termsOf(text: string, termOf: (surface: string) => string): TextTerms {
  const terms: TextTerms = { sequence: [], characters: [], identifiers: [] };
  for (const word of wordsOf(text)) {
    if (word.kind === 'joined') terms.identifiers.push(word.folded);
    else if (word.kind === 'run') addRun(terms, word.folded);
    else {
      terms.sequence.push(termOf(word.folded));
      for (const part of word.parts) terms.identifiers.push(termOf(part));
    }
  }
  return terms;
}

function addRun(terms: TextTerms, run: string): void {
  const characters = [...run];
  const last = characters.pop();
  if (last === undefined) return;
  terms.sequence.push(...pairsOf(run), last);
  terms.characters.push(...characters);
}

export function pairsOf(run: string): string[] {
  const characters = [...run];
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}

/** A query word's terms in the index: stemmed in English sections, as it is in others. */
export function spellingsOf(surface: string): string[] {
  const stemmed = stem(surface);
  return stemmed === surface ? [surface] : [stemmed, surface];
}
