import { editDistance } from '../../domain/text.ts';
import { firstFrom } from '../../files/flat-tables.ts';
import { bitCount } from '../bit-count.ts';
import { keyOf, languageOf, simplify, type WordLanguage } from './languages.ts';
import type { Surface, Terms } from './words.ts';

export interface Candidate {
  readonly word: string;
  readonly distance: number;
  readonly count: number;
}

/** Minimum length of a word to correct. Shorter words are similar to too many other words. */
const ONE_EDIT_LENGTH = 4;
const TWO_EDITS_LENGTH = 8;
/** Minimum length of a word to correct its first letter. Shorter words that differ in this letter are different words: `look`, `cook`. */
const OTHER_INITIAL_LENGTH = 6;

/** Length of the letter sequences by which docshelf finds related words. */
const GRAM = 5;
const BEGINNINGS_MAX = 20;
/** Maximum letters that may follow a word of four letters near the end of a compound. */
const ENDING_LENGTH = 2;
/** Minimum share of a word's letter sequences (`GRAM`) that a related word contains. */
const RELATED_MIN = 0.6;

interface CountedWords {
  /** Words without diacritics, in sort order. */
  readonly words: readonly string[];
  readonly counts: Uint32Array<ArrayBuffer>;
  /** Languages of each word, one bit per element of `languages`. */
  readonly masks: Uint32Array;
  readonly languages: readonly WordLanguage[];
  /** Spelling with diacritics, by the same word without diacritics. */
  readonly spellings: ReadonlyMap<string, string>;
}

export interface Related extends Candidate {
  /** Share of the letter sequences of one word that the other word contains, up to 1. */
  readonly share: number;
}

export class Vocabulary {
  readonly #counted: CountedWords;
  readonly #words: CountedWords['words'];
  readonly #letters: Uint32Array;
  #joined: Joined | undefined;

  constructor(counted: CountedWords) {
    this.#counted = counted;
    this.#words = counted.words;
    this.#letters = Uint32Array.from(counted.words, lettersOf);
  }

  /** Returns the spelling of the index, such as `größe` for `grosse`, or else the word itself. */
  spellingOf(word: string): string {
    return this.#counted.spellings.get(word) ?? word;
  }

  /** True if a section in this language has a word with this beginning. Checks up to `BEGINNINGS_MAX` words. */
  has(beginning: string, language: WordLanguage): boolean {
    const bits = this.#bitsOf([language]);
    const first = firstFrom(this.#words.length, (place) => (this.#words[place] ?? '') < beginning);
    for (let at = first; at < first + BEGINNINGS_MAX && this.#words[at]?.startsWith(beginning); at += 1)
      if ((this.#maskOf(at) & bits) !== 0) return true;
    return false;
  }

  /**
   * Finds longer words that contain all or most of `word` (`datenbankverbindung` for `verbindung`), and words with which `word`
   * begins. If `word` has four letters, it must be at the beginning or near the end of the longer word.
   */
  related(word: string, languages: readonly WordLanguage[], limit: number): Related[] {
    const bits = this.#bitsOf(languages);
    const squeezed = squeeze(word);
    const isPart = squeezed.length === GRAM - 1;
    const grams = isPart ? [squeezed] : gramsOf(squeezed);
    if (bits === 0 || grams.length === 0) return [];
    this.#joined ??= joinedWords(this.#words);
    const { text, starts } = this.#joined;
    const shared = new Map<number, number>();
    for (const gram of new Set(grams))
      for (let from = text.indexOf(gram); from !== -1; ) {
        const at = firstFrom(starts.length, (place) => (starts[place] as number) <= from) - 1;
        shared.set(at, (shared.get(at) ?? 0) + 1);
        from = text.indexOf(gram, starts[at + 1] ?? text.length);
      }
    const found: Related[] = [];
    for (const [at, count] of shared) {
      const other = this.#words[at] ?? '';
      if ((this.#maskOf(at) & bits) === 0 || other === word) continue;
      if (isPart && !other.startsWith(word) && !other.slice(-word.length - ENDING_LENGTH).includes(word)) continue;
      const length = (starts[at + 1] ?? text.length + 1) - 1 - (starts[at] as number);
      const isBegin = squeezed.startsWith(text.slice(starts[at], (starts[at] as number) + length));
      const share = Math.max(count / grams.length, isBegin ? count / (length - GRAM + 1) : 0);
      if (share >= RELATED_MIN) found.push({ ...this.#candidate(at, 0), share: Math.min(1, share) });
    }
    return found.sort((left, right) => right.share - left.share || right.count - left.count).slice(0, limit);
  }

  #maskOf(at: number): number {
    return this.#counted.masks[at] ?? 0;
  }

  #bitsOf(languages: readonly WordLanguage[]): number {
    let bits = 0;
    for (const [at, { code }] of this.#counted.languages.entries())
      if (languages.some((each) => each.code === code)) bits |= bitOf(at);
    return bits;
  }

  startingWith(prefix: string, limit: number): Candidate[] {
    const found: Candidate[] = [];
    for (
      let at = firstFrom(this.#words.length, (place) => (this.#words[place] ?? '') < prefix);
      this.#words[at]?.startsWith(prefix);
      at += 1
    )
      if (this.#words[at] !== prefix) found.push(this.#candidate(at, 0));
    return found.sort((left, right) => right.count - left.count).slice(0, limit);
  }

  /**
   * Finds similar words, by distance and then by frequency. Takes 2 ms for 200,000 words, because comparing letter sets excludes
   * most words.
   */
  near(word: string, limit: number): Candidate[] {
    const edits = word.length >= TWO_EDITS_LENGTH ? 2 : word.length >= ONE_EDIT_LENGTH ? 1 : 0;
    if (edits === 0) return [];
    const letters = lettersOf(word);
    const found: Candidate[] = [];
    for (let at = 0; at < this.#words.length; at += 1) {
      if (bitCount((this.#letters[at] ?? 0) ^ letters) > 2 * edits) continue;
      const other = this.#words[at] ?? '';
      if (Math.abs(other.length - word.length) > edits) continue;
      const hasInitial = other[0] === word[0] || (other[0] === word[1] && other[1] === word[0]);
      if (word.length < OTHER_INITIAL_LENGTH && !hasInitial) continue;
      const distance = editDistance(word, other, edits);
      if (distance > 0 && distance <= edits) found.push(this.#candidate(at, distance));
    }
    return found.sort((left, right) => left.distance - right.distance || right.count - left.count).slice(0, limit);
  }

  #candidate(at: number, distance: number): Candidate {
    return { word: this.#words[at] ?? '', distance, count: this.#counted.counts[at] ?? 0 };
  }
}

interface Joined {
  readonly text: string;
  readonly starts: Uint32Array;
}

function joinedWords(words: readonly string[]): Joined {
  const starts = new Uint32Array(words.length);
  const squeezed = words.map(squeeze);
  let at = 0;
  for (const [place, word] of squeezed.entries()) {
    starts[place] = at;
    at += word.length + 1;
  }
  return { text: squeezed.join('\n'), starts };
}

/** Removes doubled letters, because Finnish doubles consonants only in some forms of a word: `verkko`, `verkon`. */
function squeeze(word: string): string {
  return word.replace(/(.)\1/g, '$1');
}

function gramsOf(word: string): string[] {
  return Array.from({ length: Math.max(0, word.length - GRAM + 1) }, (_, at) => word.slice(at, at + GRAM));
}

/** Returns the bit of a language. All languages from number 30 on share one bit. */
const bitOf = (at: number): number => 1 << Math.min(at, 30);

export function readCountedWords(
  array: (name: string) => Uint8Array<ArrayBuffer>,
  languages: readonly WordLanguage[],
): CountedWords {
  const linesOf = (name: string): string[] => {
    const text = Buffer.from(array(name)).toString();
    return text === '' ? [] : text.split('\n');
  };
  return {
    words: linesOf('vocabulary'),
    counts: new Uint32Array(array('vocabulary counts').buffer),
    languages,
    masks: new Uint32Array(array('vocabulary languages').buffer),
    spellings: new Map(linesOf('vocabulary spellings').map((line) => line.split('\t') as [string, string])),
  };
}

export function readLanguages(array: (name: string) => Uint8Array): WordLanguage[] {
  const codes = JSON.parse(Buffer.from(array('analysed languages')).toString()) as string[];
  return codes.map(languageOf);
}

function lettersOf(word: string): number {
  let bits = 0;
  for (let at = 0; at < word.length; at += 1) bits |= 1 << (word.charCodeAt(at) & 31);
  return bits >>> 0;
}

/** Maximum words to store for corrections, twice the number of the largest measured site. Words beyond this number match only exactly. */
const WORDS_MAX = 400_000;
/** Matches words that search can correct. Excludes long words and words that begin with a digit, which are usually data such as hashes. */
const VOCABULARY_WORD = /^[\p{L}_][\p{L}\p{M}\p{N}_]{1,31}$/u;

interface KnownWord {
  readonly isOfVocabulary: boolean;
  count: number;
  languages: number;
  spelling: string | null;
}

export class KnownWords {
  readonly #words = new Map<string, KnownWord>();
  readonly #languages = new Map<string, Terms>();
  #vocabulary = 0;
  #others = 0;

  in(language: WordLanguage): Terms {
    const known = this.#languages.get(language.code);
    if (known !== undefined) return known;
    const bit = bitOf(this.#languages.size);
    const isChinese = language.code === 'zh';
    const terms = {
      termOf: this.#keys(language, bit),
      runOf: (run: string) => (isChinese ? simplify(run) : run),
    };
    this.#languages.set(language.code, terms);
    return terms;
  }

  arrays(): readonly (readonly [name: string, bytes: Uint8Array])[] {
    const words: string[] = [];
    const spellings: string[] = [];
    for (const [word, { isOfVocabulary, spelling }] of this.#words) {
      if (!isOfVocabulary) continue;
      words.push(word);
      if (spelling !== null) spellings.push(`${word}\t${spelling}`);
    }
    words.sort();
    const numbers = (numberOf: (word: KnownWord) => number) => {
      const array = Uint32Array.from(words, (word) => numberOf(this.#words.get(word) as KnownWord));
      return new Uint8Array(array.buffer);
    };
    const languages = [...this.#languages.keys()];
    return [
      ['vocabulary', Buffer.from(words.join('\n'))],
      ['vocabulary counts', numbers(({ count }) => count)],
      ['vocabulary languages', numbers((word) => word.languages)],
      ['vocabulary spellings', Buffer.from(spellings.join('\n'))],
      ['analysed languages', Buffer.from(JSON.stringify(languages))],
    ];
  }

  #keys(language: WordLanguage, bit: number): (word: Surface) => string {
    const keys = new Map<string, string>();
    return (word) => {
      this.#note(word, bit);
      if (word.parts.length > 0) return keyOf(word, language);
      const known = keys.get(word.spelling);
      if (known !== undefined) return known;
      const key = keyOf(word, language);
      if (keys.size < WORDS_MAX) keys.set(word.spelling, key);
      return key;
    };
  }

  #note({ folded, spelling }: Pick<Surface, 'folded' | 'spelling'>, bit: number): void {
    const known = this.#words.get(folded) ?? this.#add(folded);
    known.count += 1;
    known.languages |= bit;
    if (spelling !== folded) known.spelling ??= spelling;
  }

  #add(word: string): KnownWord {
    const isOfVocabulary = VOCABULARY_WORD.test(word);
    const known: KnownWord = { isOfVocabulary, count: 0, languages: 0, spelling: null };
    if ((isOfVocabulary ? this.#vocabulary : this.#others) >= WORDS_MAX) return known;
    if (isOfVocabulary) this.#vocabulary += 1;
    else this.#others += 1;
    this.#words.set(word, known);
    return known;
  }
}
