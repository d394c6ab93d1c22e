import type { ScoreReasons } from '../../domain/search.ts';
import type { IndexedSection } from '../keyword/index-writer.ts';
import type { KeywordIndex } from '../keyword/keyword-index.ts';
import { ENGLISH, keyOf, languageOf, simplify, type WordLanguage } from '../keyword/languages.ts';
import { pairsOf, plain, type Surface, symbolsOf, type Word, wordsOf } from '../keyword/words.ts';
import type { Passage } from '../ports.ts';
import type { ResultForm, SearchResult } from '../request.ts';
import type { VectorHit } from '../semantic/vector-index.ts';
import type { RankedSection, RankParts } from './rank.ts';

interface Excerpt {
  readonly content: string;
  readonly code: readonly Passage[];
  readonly highlights: readonly Highlight[];
}

interface Marks {
  readonly highlights: readonly Highlight[];
  /** Index terms of the query that occur in the highlighted text. */
  readonly terms: ReadonlySet<string>;
}

interface QueryFindings {
  readonly matchedIn: (section: number) => readonly string[];
  /** Nearest passages in meaning, by section. Null if the query has no vector. */
  readonly nearest: ReadonlyMap<number, Pick<VectorHit, 'passage'>> | null;
  /** Positions, by section, of the line that defines an identifier of the query, such as an option in a table. */
  readonly rows: ReadonlyMap<number, number>;
  readonly partsOf: ((section: number) => RankParts) | null;
}

/** Maximum characters to search for the excerpts of one query. Searching a million characters takes up to 60 ms (measured). */
const SEARCHED_LENGTH_MAX = 2_000_000;

export function excerptsOf(
  ranked: readonly RankedSection[],
  keyword: KeywordIndex,
  { matchedIn, nearest, rows, partsOf }: QueryFindings,
  { root, version: otherwise, source }: ResultForm,
): SearchResult[] {
  const read = keyword.sections(ranked.map(({ section }) => section));
  const budget = { left: SEARCHED_LENGTH_MAX };
  return ranked.flatMap(({ section, score }) => {
    const found = read.get(section);
    if (found === undefined) return [];
    const { title, headings, language, tags, passages } = found;
    const languages = language === null ? keyword.languages : [languageOf(language)];
    const marker = new Marker(matchedIn(section), languages);
    const row = fromRow(passages, rows.get(section));
    const { content, highlights, code } = excerptOf(
      found,
      row ?? passages,
      row === null ? nearest?.get(section)?.passage : 0,
      marker,
      budget,
    );
    const version = found.version ?? otherwise;
    const metadata = { score, title, headings, version, language, tags, highlights, code, ...(source && { source }) };
    const result = { content, path: root + found.path, metadata };
    if (partsOf === null) return result;
    const reasons = { ...partsOf(section), places: placesOf(found, marker), prior: keyword.priors[section] ?? 0 };
    return { ...result, reasons };
  });
}

/**
 * Returns the passages with an additional first one, which starts at the position `row`. Null if `row` is undefined or after the
 * last passage, or if the section has only one passage.
 */
function fromRow(passages: readonly Passage[], row: number | undefined): readonly Passage[] | null {
  if (row === undefined || passages.length < 2) return null;
  const end = passages.find((passage) => passage.end > row)?.end;
  return end === undefined ? null : [{ start: row, end }, ...passages];
}

function excerptOf(
  { text, code = [], headings, title }: IndexedSection,
  passages: readonly Passage[],
  nearest: number | undefined,
  marker: Marker,
  budget: { left: number },
): Excerpt {
  // A section without text was found by its heading, so show the heading.
  const whole = text || (headings.at(-1) ?? title);
  if (passages.length < 2) return { content: whole, code, highlights: marker.mark(whole).highlights };
  const excerptIn = ({ start, end }: Passage) => {
    const content = text.slice(start, end);
    return { start, content, ...marker.mark(content) };
  };
  const near = excerptIn(passages[nearest ?? 0] as Passage);
  if (marker.terms.size === 0 || (nearest !== undefined && near.terms.size > 0)) return withCode(near, code);
  // Replace the passage nearest in meaning only by a passage with at least two words of the query, or with its only word.
  const most = mostMarked(within(budget, passages).map(excerptIn), marker.terms.size);
  const needed = nearest === undefined ? 1 : Math.min(2, marker.terms.size);
  return withCode(most !== null && most.terms.size >= needed ? most : near, code);
}

function* within(budget: { left: number }, passages: readonly Passage[]): Generator<Passage> {
  for (const passage of passages) {
    budget.left -= passage.end - passage.start;
    if (budget.left < 0) return;
    yield passage;
  }
}

/** Adds the positions of code blocks to the excerpt that starts at `start` of the section. */
function withCode({ start, ...excerpt }: Omit<Excerpt, 'code'> & { start: number }, code: readonly Passage[]): Excerpt {
  const at = (place: number): number => Math.min(Math.max(place - start, 0), excerpt.content.length);
  const moved = code.map((block) => ({ start: at(block.start), end: at(block.end) }));
  return { ...excerpt, code: moved.filter((block) => block.start < block.end) };
}

/**
 * Returns the first excerpt with the most terms of the query, or null if no excerpt has any.
 * @param termsMax number of terms at which the search stops
 */
function mostMarked<Marked extends Marks>(excerpts: Iterable<Marked>, termsMax: number): Marked | null {
  let most: Marked | null = null;
  for (const excerpt of excerpts) {
    if (excerpt.terms.size > (most?.terms.size ?? 0)) most = excerpt;
    if (most !== null && most.terms.size >= termsMax) break;
  }
  return most;
}

function placesOf({ title, headings, text }: IndexedSection, marker: Marker): ScoreReasons['places'] {
  const texts = { title: [title], headings, text: [text] };
  const isMarked = (each: string): boolean => marker.mark(each).highlights.length > 0;
  return (['title', 'headings', 'text'] as const).filter((place) => texts[place].some(isMarked));
}

interface Highlight {
  readonly start: number;
  readonly end: number;
}

const VOWEL_SIGNS = /^\p{M}+/u;

const isSymbol = (term: string): boolean => !/[\p{L}\p{N}]/u.test(term);

/** Finds the words of a query in texts of one section. */
export class Marker {
  /** Index terms of the query that occur in the section. */
  readonly terms: ReadonlySet<string>;
  readonly #languages: readonly WordLanguage[];
  readonly #initials: ReadonlySet<number>;
  readonly #isEnglish: boolean;
  readonly #hasSymbols: boolean;
  readonly #known = new Map<string, string | null>();

  constructor(terms: Iterable<string>, languages: readonly WordLanguage[] = [ENGLISH]) {
    this.terms = new Set(terms);
    this.#languages = languages;
    this.#initials = new Set(Array.from(this.terms, (term) => term.charCodeAt(0)));
    this.#isEnglish = languages.every(({ code }) => code === ENGLISH.code);
    this.#hasSymbols = [...this.terms].some(isSymbol);
  }

  mark(text: string): Marks {
    const terms = new Set<string>();
    const places: Highlight[] = [];
    for (const word of wordsOf(text)) {
      if (word.kind === 'run') for (const place of this.#placesInRun(word, terms)) places.push(place);
      else if (this.#add(word, terms)) places.push({ start: word.start, end: word.end });
    }
    for (const { symbol, start, end } of this.#hasSymbols ? symbolsOf(text) : []) {
      if (!this.terms.has(symbol)) continue;
      terms.add(symbol);
      places.push({ start, end });
    }
    return { highlights: merged(places), terms };
  }

  #add(word: Surface, terms: Set<string>): boolean {
    const term = this.#termOf(word);
    if (term !== null) terms.add(term);
    const inParts = word.parts.filter((part) => this.#add(plain(part), terms));
    return term !== null || inParts.length > 0;
  }

  #termOf(word: Surface): string | null {
    const { folded, spelling } = word;
    // An English word and its stem have the same first letter, so skip words that share no first letter with a term of the query.
    if (this.#isEnglish && !this.#initials.has(folded.charCodeAt(0))) return null;
    const known = this.#known.get(spelling);
    if (known !== undefined) return known;
    const keys = this.#languages.values().map((language) => keyOf(word, language));
    const term = this.terms.has(folded) ? folded : (keys.find((key) => this.terms.has(key)) ?? null);
    this.#known.set(spelling, term);
    return term;
  }

  #placesInRun({ folded, start, end }: Word, terms: Set<string>): Highlight[] {
    const places: Highlight[] = [];
    const pairs = pairsOf(folded);
    let at = start;
    for (const [number, character] of [...folded].entries()) {
      for (const part of [character, pairs[number] ?? '']) {
        const term = this.terms.has(part) ? part : simplify(part);
        if (!this.terms.has(term)) continue;
        terms.add(term);
        // Include the vowel signs that follow, because they belong to the last matched character.
        const marks = VOWEL_SIGNS.exec(folded.slice(at - start + part.length))?.[0].length ?? 0;
        places.push({ start: at, end: at + part.length + marks });
      }
      at += character.length;
    }
    // Removing case and diacritics has changed the length of the text, so exact positions are unknown. Mark the whole text.
    return places.length > 0 && folded.length !== end - start ? [{ start, end }] : places;
  }
}

function merged(places: Highlight[]): Highlight[] {
  const merged: Highlight[] = [];
  for (const place of places.sort((left, right) => left.start - right.start)) {
    const last = merged.at(-1);
    if (last === undefined || place.start > last.end) merged.push(place);
    else merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, place.end) };
  }
  return merged;
}
