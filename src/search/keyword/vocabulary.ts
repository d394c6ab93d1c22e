import { editDistance } from '../../domain/text.ts';
import { firstFrom } from '../../files/flat-tables.ts';
import { bitCount } from '../compact.ts';
import { stem } from './english.ts';

export interface Candidate {
  readonly word: string;
  readonly distance: number;
  readonly count: number;
}

/** Shorter words have too many neighbours. */
const ONE_EDIT_LENGTH = 4;
const TWO_EDITS_LENGTH = 8;

const BYTES_PER_WORD = 60;

interface CountedWords {
  readonly words: readonly string[];
  readonly counts: Uint32Array<ArrayBuffer>;
}

export class Vocabulary {
  readonly #words: CountedWords['words'];
  readonly #counts: CountedWords['counts'];
  readonly #letters: Uint32Array;

  constructor({ words, counts }: CountedWords) {
    this.#words = words;
    this.#counts = counts;
    this.#letters = Uint32Array.from(words, lettersOf);
  }

  get bytes(): number {
    return this.#words.length * BYTES_PER_WORD;
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

  /** Nearest first, then the most frequent. Takes 2 ms for 200,000 words, because an edit changes at most two bits. */
  near(word: string, limit: number): Candidate[] {
    const edits = word.length >= TWO_EDITS_LENGTH ? 2 : word.length >= ONE_EDIT_LENGTH ? 1 : 0;
    if (edits === 0) return [];
    const letters = lettersOf(word);
    const found: Candidate[] = [];
    for (let at = 0; at < this.#words.length; at += 1) {
      if (bitCount((this.#letters[at] ?? 0) ^ letters) > 2 * edits) continue;
      const other = this.#words[at] ?? '';
      if (Math.abs(other.length - word.length) > edits) continue;
      const distance = editDistance(word, other, edits);
      if (distance > 0 && distance <= edits) found.push(this.#candidate(at, distance));
    }
    return found.sort((left, right) => left.distance - right.distance || right.count - left.count).slice(0, limit);
  }

  #candidate(at: number, distance: number): Candidate {
    return { word: this.#words[at] ?? '', distance, count: this.#counts[at] ?? 0 };
  }
}

export function readCountedWords(words: Uint8Array, counts: Uint8Array<ArrayBuffer>): CountedWords {
  const text = Buffer.from(words).toString();
  return { words: text === '' ? [] : text.split('\n'), counts: new Uint32Array(counts.buffer) };
}

function lettersOf(word: string): number {
  let bits = 0;
  for (let at = 0; at < word.length; at += 1) bits |= 1 << (word.charCodeAt(at) & 31);
  return bits >>> 0;
}

/** Twice as many as the largest measured site has. Other words are still found exactly. */
const WORDS_MAX = 400_000;
/** Longer words, and words that begin with a digit, are data that nobody misspells. */
const VOCABULARY_WORD = /^[\p{L}_][\p{L}\p{M}\p{N}_]{1,31}$/u;

interface KnownWord {
  readonly stem: string;
  readonly isOfVocabulary: boolean;
  count: number;
}

export class KnownWords {
  readonly #words = new Map<string, KnownWord>();
  #vocabulary = 0;
  #others = 0;

  note(word: string): string {
    const known = this.#words.get(word) ?? this.#add(word);
    known.count += 1;
    return known.stem;
  }

  vocabulary(): CountedWords {
    const words: string[] = [];
    for (const [word, { isOfVocabulary }] of this.#words) if (isOfVocabulary) words.push(word);
    words.sort();
    return { words, counts: Uint32Array.from(words, (word) => this.#words.get(word)?.count ?? 0) };
  }

  #add(word: string): KnownWord {
    const known = { stem: stem(word), isOfVocabulary: VOCABULARY_WORD.test(word), count: 0 };
    if ((known.isOfVocabulary ? this.#vocabulary : this.#others) >= WORDS_MAX) return known;
    if (known.isOfVocabulary) this.#vocabulary += 1;
    else this.#others += 1;
    this.#words.set(word, known);
    return known;
  }
}
