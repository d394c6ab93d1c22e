import { stem } from '../stem.ts';
import type { CountedWords } from '../vocabulary.ts';

/** Words kept for misspellings and prefixes: twice as many as the largest measured site has. Other words are found exactly. */
const WORDS_MAX = 400_000;
/** Longer words, and words that begin with a digit, are data that nobody misspells. */
const VOCABULARY_WORD = /^[\p{L}_][\p{L}\p{M}\p{N}_]{1,31}$/u;

interface KnownWord {
  readonly stem: string;
  readonly isOfVocabulary: boolean;
  count: number;
}

/** Words as written (folded), their number of occurrences, and their stems. */
export class KnownWords {
  readonly #words = new Map<string, KnownWord>();
  #vocabulary = 0;
  #others = 0;

  /** Counts an occurrence. @returns the stem of the word */
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

  /** Over the bound, the word is not kept. */
  #add(word: string): KnownWord {
    const known = { stem: stem(word), isOfVocabulary: VOCABULARY_WORD.test(word), count: 0 };
    if ((known.isOfVocabulary ? this.#vocabulary : this.#others) >= WORDS_MAX) return known;
    if (known.isOfVocabulary) this.#vocabulary += 1;
    else this.#others += 1;
    this.#words.set(word, known);
    return known;
  }
}
