import { stem } from '../stem.ts';
import { type CountedWords, firstWordFrom } from '../vocabulary.ts';

/** Words that misspellings and prefixes are looked up in, twice as many as the largest site that is measured has; others are found as they are. */
const WORDS_MAX = 400_000;
/** Longer words, and those that begin with a digit, are data that nobody misspells. */
const VOCABULARY_WORD = /^[\p{L}_][\p{L}\p{M}\p{N}_]{1,31}$/u;

interface KnownWord {
  readonly stem: string;
  readonly isOfVocabulary: boolean;
  count: number;
}

/** Words as written (folded), how often they come, and their stems. */
export class KnownWords {
  readonly #former: CountedWords;
  /** What was noted: most words of the version before are not. */
  readonly #noted = new Map<string, KnownWord>();
  #vocabulary: number;
  #others = 0;

  constructor(former: CountedWords = { words: [], counts: new Uint32Array() }) {
    this.#former = former;
    this.#vocabulary = former.words.length;
  }

  /** True where some were left out. */
  get isFull(): boolean {
    return this.#vocabulary >= WORDS_MAX;
  }

  /** @param times -1 for one that is gone @returns its stem */
  note(word: string, times: 1 | -1): string {
    const known = this.#noted.get(word) ?? this.#take(word);
    known.count += times;
    return known.stem;
  }

  vocabulary(): CountedWords {
    const words: string[] = [];
    const counts: number[] = [];
    const put = (word: string, count: number): void => {
      if (count <= 0) return;
      words.push(word);
      counts.push(count);
    };
    let at = 0;
    const { words: former, counts: formerCounts } = this.#former;
    for (const word of Array.from(this.#noted.keys()).sort()) {
      const { isOfVocabulary, count } = this.#noted.get(word) as KnownWord;
      if (!isOfVocabulary) continue;
      for (; at < former.length && (former[at] as string) < word; at += 1)
        put(former[at] as string, formerCounts[at] ?? 0);
      if (former[at] === word) at += 1;
      put(word, count);
    }
    for (; at < former.length; at += 1) put(former[at] as string, formerCounts[at] ?? 0);
    return { words, counts: Uint32Array.from(counts) };
  }

  /** Over the bound a word is not kept. */
  #take(word: string): KnownWord {
    const at = firstWordFrom(this.#former.words, word);
    const isOfFormer = this.#former.words[at] === word;
    const isOfVocabulary = isOfFormer || VOCABULARY_WORD.test(word);
    const known = { stem: stem(word), isOfVocabulary, count: isOfFormer ? (this.#former.counts[at] ?? 0) : 0 };
    if (!isOfFormer) {
      if ((isOfVocabulary ? this.#vocabulary : this.#others) >= WORDS_MAX) return known;
      if (isOfVocabulary) this.#vocabulary += 1;
      else this.#others += 1;
    }
    this.#noted.set(word, known);
    return known;
  }
}
