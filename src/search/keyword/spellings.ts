import { isStopWord, otherSpellings } from './english.ts';
import { ENGLISH, keyOf, languageOf, otherRegion, simplify, stemOf, type WordLanguage } from './languages.ts';
import type { Vocabulary } from './vocabulary.ts';
import { plain, type Surface, wordsOf } from './words.ts';

export interface Dictionary {
  readonly sections: number;
  readonly languages: readonly WordLanguage[];
  readonly vocabulary: Pick<Vocabulary, 'startingWith' | 'near' | 'has' | 'related' | 'spellingOf'>;
  sectionsWith(term: string): number;
  /** Sections in which the index terms follow each other directly. */
  withPhrase(terms: readonly string[]): readonly number[];
}

const RELATED_MAX = 24;
/** A related word counts at most half as much as the word in the query. */
export const RELATED_SHARE = 0.5;
const STEM_LENGTH_MIN = 5;
const PART_LENGTH_MIN = 4;
/** Minimum length of each part into which docshelf splits a compound, such as `brevmal`, that the site does not contain. */
const SHORT_PART = 3;
/** Minimum lengths of the two words in a joined word, such as `rollback`, `timeout` and `setup`. */
const FIRST_WORD_LENGTH_MIN = 3;
const SECOND_WORD_LENGTH_MIN = 2;
/**
 * Maximum searches of a query for a joined word's parts. One takes 25 ms for 20,000 sections if both parts are frequent (measured).
 */
const PHRASE_READS_MAX = 3;
/** Maximum length of a word that docshelf splits into the parts of a compound. */
const COMPOUND_LENGTH_MAX = 60;
/** Letters that link the parts of a compound. */
const LINKING = ['', 's', 'es', 'n', 'en', 'e', 'er'];

export class Spellings {
  readonly #dictionary: Dictionary;
  readonly #languages: readonly WordLanguage[];
  readonly #ofQuery: readonly WordLanguage[];
  readonly #twoWords = new Map<string, string[]>();
  readonly #isChinese: boolean;
  #phraseReads = 0;

  /** @param filter BCP 47 tag of the language to which the search is limited, or null */
  constructor(query: string, dictionary: Dictionary, filter: string | null) {
    this.#dictionary = dictionary;
    const own = filter === null ? null : languageOf(filter).code;
    const filtered = dictionary.languages.filter(({ code }) => code === own);
    this.#languages = filtered.length > 0 ? filtered : dictionary.languages;
    this.#isChinese = this.#languages.some(({ code }) => code === 'zh');
    this.#ofQuery = this.#likeliest(query);
  }

  /**
   * Returns the index terms of a word: its stem in each language, that of its other English spelling (`colour`, `color`), and the
   * word itself.
   */
  keysOf(word: Surface): string[] {
    const { folded, parts } = word;
    const keys = new Set<string>();
    for (const language of this.#languages)
      for (const spelling of this.#spelled(word, language)) keys.add(keyOf({ spelling, parts }, language));
    if (this.#languages.includes(ENGLISH) && parts.length === 0)
      for (const spelling of otherSpellings(folded)) keys.add(keyOf({ spelling, parts }, ENGLISH));
    return [...keys.add(folded)];
  }

  /** Returns one list of index terms per language, and one list of the words as written. */
  variants(words: readonly Surface[]): string[][] {
    const languages = this.#languages.map((language) =>
      words.map((word) => keyOf({ ...word, spelling: this.#spelled(word, language)[0] ?? word.spelling }, language)),
    );
    return [...languages, words.map(({ folded }) => folded)];
  }

  runsOf(run: string): string[] {
    return this.#isChinese ? [...new Set([run, simplify(run)])] : [run];
  }

  /** Returns a text of the same length with the Chinese words of the other region, or the text itself. */
  regionalRun(run: string): string {
    return this.#isChinese ? otherRegion(simplify(run)) : run;
  }

  /** Index terms of words that contain all or most of `word`. Their weights are shares of the weight of `word`. */
  related(word: Surface): ReadonlyMap<string, number> {
    const shares = new Map<string, number>();
    const languages = this.#ofQuery.filter(({ hasParts }) => hasParts);
    const stems = languages.map((language) => stemOf(word.spelling, language));
    const bases = new Set(stems.map((stem) => (stem.length < STEM_LENGTH_MIN ? word.folded : stem)));
    if (languages.some(({ isCompounding }) => isCompounding) && !this.#isKnown(word.folded))
      for (const stem of stems) if (stem.length === PART_LENGTH_MIN) bases.add(stem);
    for (const base of bases)
      for (const { word: other, share } of this.#dictionary.vocabulary.related(base, languages, RELATED_MAX))
        for (const term of this.keysOf(plain(other)))
          shares.set(term, Math.max(shares.get(term) ?? 0, share * RELATED_SHARE));
    return shares;
  }

  /** Returns two words that the site writes next to each other, such as `roll` and `back` for an unknown word `rollback`. */
  twoWords({ folded, parts }: Surface): string[] {
    if (parts.length > 0 || folded.length > COMPOUND_LENGTH_MAX || !/^\p{L}+$/u.test(folded)) return [];
    // Cache the result, because both the ranking and the correction of the query need it.
    const found = this.#twoWords.get(folded) ?? this.#apart(folded);
    this.#twoWords.set(folded, found);
    return found;
  }

  #apart(folded: string): string[] {
    for (let at = folded.length - SECOND_WORD_LENGTH_MIN; at >= FIRST_WORD_LENGTH_MIN; at -= 1) {
      const both = [folded.slice(0, at), folded.slice(at)];
      if (!both.every((each) => this.#isKnown(each))) continue;
      if (this.#phraseReads >= PHRASE_READS_MAX) return [];
      this.#phraseReads += 1;
      const variants = new Map(this.variants(both.map(plain)).map((terms) => [terms.join(' '), terms]));
      if (variants.values().some((terms) => this.#dictionary.withPhrase(terms).length > 0)) return both;
    }
    return [];
  }

  /** Returns the parts of a compound that the site contains: `datenbank` and `verbindung` for `datenbankverbindung`. */
  partsOf({ folded }: Surface): string[] {
    const { length } = folded;
    if (length < 2 * SHORT_PART || length > COMPOUND_LENGTH_MAX || !/^\p{L}+$/u.test(folded)) return [];
    if (!this.#ofQuery.some(({ isCompounding }) => isCompounding)) return [];
    const parts = this.#split(folded) ?? [];
    const isLong = parts.every((part) => part.length >= PART_LENGTH_MIN) || !this.#isKnown(folded);
    return parts.length > 0 && isLong ? parts : this.#longestPart(folded);
  }

  isStopWord(folded: string, typed: string): boolean {
    if (this.#ofQuery.some(({ code, stopWords }) => code !== 'en' && stopWords.has(folded))) return true;
    if (!isStopWord(folded, typed)) return false;
    return (
      this.#ofQuery.includes(ENGLISH) || !this.#ofQuery.some((each) => each.hasParts && this.#isWordOf(folded, each))
    );
  }

  #isWordOf(word: string, language: WordLanguage): boolean {
    const stem = stemOf(word, language);
    return this.#dictionary.vocabulary.has(stem.length < STEM_LENGTH_MIN ? word : stem, language);
  }

  /** Languages in which the site contains most words of the query. English wins a tie. */
  #likeliest(query: string): readonly WordLanguage[] {
    const languages = this.#languages;
    if (languages.length < 2 || !languages.some(({ hasParts }) => hasParts)) return languages;
    const words = wordsOf(query).filter(({ kind }) => kind === 'word');
    const scored = languages.map((language) => ({
      language,
      known: words.reduce(
        (sum, { folded }) => sum + Number(this.#isWordOf(folded, language)) + Number(language.stopWords.has(folded)),
        0,
      ),
    }));
    const most = Math.max(...scored.map(({ known }) => known));
    const likeliest = scored.filter(({ known }) => known === most).map(({ language }) => language);
    return most > 0 && likeliest.includes(ENGLISH) ? [ENGLISH] : likeliest;
  }

  /**
   * Returns the spellings of a word. If the query omits diacritics, the first spelling has the diacritics of the word in the
   * index.
   */
  #spelled({ folded, spelling }: Surface, language: WordLanguage): readonly string[] {
    if (!language.hasParts) return [folded];
    const known = spelling === folded ? this.#dictionary.vocabulary.spellingOf(folded) : spelling;
    return known === folded ? [folded] : [known, folded];
  }

  /** @param failed beginnings of the word that cannot be split. Trying them again would take exponential time. */
  #split(word: string, failed = new Set<string>()): string[] | null {
    for (let at = word.length - SHORT_PART; at >= SHORT_PART; at -= 1) {
      const [head, tail] = [word.slice(0, at), word.slice(at)];
      if (!this.#isKnown(tail)) continue;
      const first = this.#partBefore(head);
      if (first !== null) return [first, tail];
      const more = head.length >= 2 * SHORT_PART && !failed.has(head) ? this.#split(head, failed) : null;
      if (more !== null) return [...more, tail];
    }
    failed.add(word);
    return null;
  }

  #partBefore(head: string): string | null {
    const forms = LINKING.filter((linking) => head.endsWith(linking)).map((linking) =>
      head.slice(0, head.length - linking.length),
    );
    return forms.find((form) => form.length >= SHORT_PART && this.#isKnown(form)) ?? null;
  }

  #longestPart(word: string): string[] {
    for (let length = word.length - 1; length > PART_LENGTH_MIN; length -= 1) {
      const part = [word.slice(-length), word.slice(0, length)].find((each) => this.#isKnown(each));
      if (part !== undefined) return [part];
    }
    return [];
  }

  #isKnown(part: string): boolean {
    return this.keysOf(plain(part)).some((term) => this.#dictionary.sectionsWith(term) > 0);
  }
}
