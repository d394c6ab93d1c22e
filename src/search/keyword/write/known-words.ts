import { stem } from '../stem.ts';

/** Words that misspellings and prefixes are looked up in, twice as many as the largest site that is measured has; others are found as they are. */
const WORDS_MAX = 400_000;
/** Longer words, and those that begin with a digit, are data that nobody misspells. */
const VOCABULARY_WORD = /^[\p{L}_][\p{L}\p{M}\p{N}_]{1,31}$/u;

interface KnownWord {
  /** Null before it is asked for: most words of a version before are not. */
  stem: string | null;
  readonly isOfVocabulary: boolean;
  count: number;
}

/** Words as written (folded), how often they come, and their stems. */
export class KnownWords {
  readonly #words = new Map<string, KnownWord>();
  #vocabulary = 0;

  /** @param former counts of the version before */
  constructor(former: Iterable<readonly [word: string, count: number]>) {
    for (const [word, count] of former) this.#words.set(word, { stem: null, isOfVocabulary: true, count });
    this.#vocabulary = this.#words.size;
  }

  /** True where some were left out. */
  get isFull(): boolean {
    return this.#vocabulary >= WORDS_MAX;
  }

  /** @param times -1 for one that is gone @returns its stem */
  note(word: string, times: 1 | -1): string {
    const known = this.#words.get(word);
    if (known !== undefined) {
      known.count += times;
      known.stem ??= stem(word);
      return known.stem;
    }
    const isOfVocabulary = VOCABULARY_WORD.test(word);
    const others = this.#words.size - this.#vocabulary;
    const added = { stem: stem(word), isOfVocabulary, count: times };
    if ((isOfVocabulary ? this.#vocabulary : others) >= WORDS_MAX) return added.stem;
    this.#words.set(word, added);
    if (isOfVocabulary) this.#vocabulary += 1;
    return added.stem;
  }

  /** Rising by code units. */
  vocabulary(): [word: string, count: number][] {
    return Array.from(this.#words)
      .filter(([, { isOfVocabulary, count }]) => isOfVocabulary && count > 0)
      .map(([word, { count }]): [string, number] => [word, count])
      .sort(([one], [other]) => (one < other ? -1 : 1));
  }
}
