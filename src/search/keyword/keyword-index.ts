import type { SearchFacts } from '../../domain/search.ts';
import { firstFrom } from '../../files/flat-tables.ts';
import { asDamaged } from './format.ts';
import { type Facets, type Filter, IndexFile, maskOf, only, type StoredSection, without } from './index-file.ts';
import type { WordLanguage } from './languages.ts';
import {
  correctedQuery,
  type Link,
  LONG_NUMBER,
  type Lookup,
  type Name,
  onlyIdentifier,
  type ParsedQuery,
  parseQuery,
  phraseVariants,
  planOf,
  rowFinder,
} from './query.ts';
import { Accumulator, byScore, type Mask, Proximity, RANKING, type Ranked, type Ranking, rarity } from './ranking.ts';
import { Spellings } from './spellings.ts';
import { attachedSymbols, plain, titleKey, wordsOf } from './words.ts';

/** Number of best sections whose word distances affect the score. 50 sections take 0.2 ms, and 100 give no better results (nDCG). */
const NEAR_CANDIDATES = 50;
const SHORT_WORDS = 2;
const QUOTED_MAX = 30;
const QUOTED_PAIRS_MIN = 5;
const QUOTED_PART = 0.75;
/** Maximum words of a query to look up in titles and headings, which seldom contain more. */
const HEADED_WORDS_MAX = 8;
const HEADED_POINTS = 0.1;
/** Maximum words of a query whose missing words lower the score. With four words, nDCG@10 on one test set falls by 0.003. */
const COVERED_WORDS_MAX = 3;
/**
 * Exponent of the share of query words in a section. With 0.3, one of two words leaves 81% of the score. 0.15 and 0.5 are worse.
 */
const COVERAGE_EXPONENT = 0.3;
const PARTS_SHARE = 0.75;
const NO_SEQUENCE = new Uint16Array();
/** Number of best sections to search for a line that defines an identifier, such as a table row. */
const ROW_CANDIDATES = 20;

export interface KeywordHit {
  readonly section: number;
  /** BM25 score divided by the sum of the rarities of all query words: 0 to about 4, comparable between queries. */
  readonly normalised: number;
  readonly exact: Exact | null;
  /**
   * Points from 0 to 3.1. One each, but at most two, if the section contains all identifiers and symbols of a short query,
   * defines an identifier of the query, or contains nearly all words of the query in sequence. One more if its last heading is
   * the query, on the best page or a version of it. 0.1 more if its title and headings together contain all words of the query.
   */
  readonly names: number;
}

/** `title`: the query is the title of the page. `identifier`: the query is a single identifier, which the section contains. */
export type Exact = 'title' | 'identifier';

export interface SearchOptions {
  readonly limit: number;
  /** True for search as you type, in which the last word also matches longer words. */
  readonly prefixLast?: boolean;
  readonly filter?: Filter;
}

export class KeywordIndex {
  readonly #path: string;
  readonly #ranking: Ranking;
  readonly #file: IndexFile;
  readonly #scores: Accumulator;
  readonly #alternatives: Accumulator;

  /**
   * @param isSealKnown true to skip the checksum of a file that was verified before. The checksum takes 0.2 s for 100,000
   * sections
   * @throws DocshelfError `index_damaged` if the file is missing, unfinished, changed, or of another format version
   */
  constructor(path: string, ranking: Ranking = RANKING, isSealKnown = false) {
    this.#path = path;
    this.#ranking = ranking;
    this.#file = IndexFile.open(path, ranking, isSealKnown);
    this.#scores = new Accumulator(this.#file.sections);
    this.#alternatives = new Accumulator(this.#file.sections);
  }

  get priors(): Float32Array {
    return this.#file.priors;
  }

  get count(): number {
    return this.#file.sections;
  }

  get languages(): readonly WordLanguage[] {
    return this.#file.languages;
  }

  /** Sections in a language that `reads` accepts, or in an unknown language. */
  readable(reads: (language: string) => boolean): Mask {
    return this.#read(() => this.#file.readable(reads));
  }

  find(query: string, options: SearchOptions) {
    return this.#read(() => {
      const parsed = this.#parse(query, options.prefixLast === true);
      const spellings = new Spellings(parsed.wanted, this.#file, options.filter?.language ?? null);
      const mask = this.#restrict(parsed, spellings, maskOf(options.filter ?? {}, this.#file));
      const goesOn = options.prefixLast === true && parsed.unfinished;
      const { wishes, links, names, joined } = planOf(parsed.wanted, goesOn, this.#file, spellings, this.#ranking);
      const [code, ...others] = wordsOf(parsed.wanted);
      const isNumbered = LONG_NUMBER.test(code?.folded ?? '');
      const isUnknown = (links.length > 1 && isNumbered) || knownPart(links) === 0;
      const isCode = code !== undefined && code.parts.length > 0 && others.length === 0 && isUnknown;
      const scored = isCode ? this.#withParts(wishes, mask) : mask;
      for (const wish of wishes) this.#score(wish, scored);
      if (parsed.isQuestion)
        for (const phrase of parsed.phrases) this.#scorePhrase(this.#holding(phrase, spellings) ?? [], mask);
      const total = wishes.reduce((sum, { weight }) => sum + weight, 0);
      const only = onlyIdentifier(parsed.wanted, this.#file, spellings);
      const ranked = this.#rank(parsed.wanted, spellings, { only, links, joined, limit: options.limit });
      const sections = ranked.map(({ section }) => section);
      const named = this.#sectionsWith(parsed.isQuestion ? [] : names, spellings, sections);
      // Signs before a word belong to the word: the heading `<<` does not define `<<EOF`.
      const isWhole = !parsed.isQuestion && attachedSymbols(parsed.wanted).length === 0;
      const headed = this.#headedBy(isWhole ? names : [], only, spellings);
      const quoted = this.#quoting(parsed.wanted, spellings, sections.slice(0, NEAR_CANDIDATES));
      const best = sections.slice(0, ROW_CANDIDATES);
      const rows = this.#rowsOf(parsed.wanted, best);
      const titled = this.#titledIn(parsed.wanted, only, best);
      const isLikeHeading = links.length > 1 && links.length <= HEADED_WORDS_MAX;
      const heads = isLikeHeading ? links.map(({ terms }) => this.#headed(terms)) : [];
      const hits = ranked.map(({ section, score, exact }): KeywordHit => {
        const isNamed = named.has(section) || exact === 'identifier';
        const isHeaded = isNamed && headed.has(section);
        const inName = Number(isNamed) + Number(isHeaded || rows.has(section)) + Number(quoted.has(section));
        const isOfHeads = heads.length > 0 && heads.every((each) => each.has(section));
        const namePoints = Math.min(2, inName) + Number(titled.has(section)) + (isOfHeads ? HEADED_POINTS : 0);
        return { section, normalised: score / total, exact, names: namePoints };
      });
      const facts = { known: knownPart(links), isShort: links.length <= SHORT_WORDS };
      // The model cannot distinguish numbers, so it would find sections for any code.
      const allowed = isNumbered ? scored : mask;
      return { hits, ...facts, allowed, rows, matchedIn: this.#matcher(wishes) };
    });
  }

  /** Returns the corrected query and the excluded words. `inclusive` is the query with the excluded words as ordinary words. */
  readings(
    query: string,
    prefixLast: boolean,
    language: string | null = null,
  ): Omit<SearchFacts, 'facets' | 'semantic'> {
    return this.#read(() => {
      const { wanted, unwanted, inclusive, unfinished } = this.#parse(query, prefixLast);
      const spellings = new Spellings(wanted, this.#file, language);
      const isPlain = unwanted.length === 0;
      const corrected = isPlain ? correctedQuery(query, prefixLast && unfinished, this.#file, spellings) : null;
      return { corrected, excluded: unwanted, inclusive };
    });
  }

  get facets(): Facets {
    return this.#read(() => this.#file.facets);
  }

  sections(numbers: readonly number[]): ReadonlyMap<number, StoredSection> {
    return this.#read(() => this.#file.readSections(numbers));
  }

  links(numbers: readonly number[]): ReadonlyMap<number, string> {
    return this.#read(() => new Map(this.#file.readHeadings(numbers).map(({ n, path }) => [n, path])));
  }

  section(n: number): StoredSection | null {
    return this.sections([n]).get(n) ?? null;
  }

  close(): void {
    this.#file.close();
  }

  #read<Result>(act: () => Result): Result {
    try {
      return act();
    } catch (error) {
      throw asDamaged(this.#path, error);
    }
  }

  #parse(query: string, prefixLast: boolean): ParsedQuery {
    return parseQuery(query, (text, isAtEnd) => {
      const option = wordsOf(text)[0]?.folded ?? '';
      // `-Xmx512m` and `-XX:Name` are options if the site has other `-Xmx` or `-XX` options.
      const [start = option] = /^-\p{L}{2,}(?!\p{L})/u.exec(option) ?? [];
      return (
        option.startsWith('-') &&
        (this.#file.hasName(option, prefixLast && isAtEnd) || this.#file.hasName(start, false))
      );
    });
  }

  #restrict({ phrases, unwanted, isQuestion }: ParsedQuery, spellings: Spellings, filtered: Mask): Mask {
    let mask = filtered;
    for (const phrase of unwanted) mask = without(this.#holding(phrase, spellings) ?? [], mask, this.count);
    for (const phrase of isQuestion ? [] : phrases) {
      // Quotes can be a part of a pasted command. If no section contains the quoted phrase, its words count as ordinary words.
      const found = this.#holding(phrase, spellings) ?? [];
      if (found.length > 0) mask = only(found, mask, this.count);
    }
    return mask;
  }

  #holding(phrase: string, spellings: Spellings): number[] | null {
    const variants = phraseVariants(phrase, spellings, (start) => this.#file.termsStartingWith(start));
    return variants && [...new Set(variants.flatMap((terms) => this.#file.withPhrase(terms)))];
  }

  #scorePhrase(found: readonly number[], mask: Mask): void {
    const sections = Uint32Array.from(found);
    const weight = this.#ranking.phrase * rarity(found.length, this.count);
    this.#scores.add({ sections, impacts: new Float32Array(sections.length).fill(1) }, weight, mask);
  }

  #score({ alternatives, weight }: Lookup, mask: Mask): void {
    if (alternatives.size === 1) {
      for (const [term, share] of alternatives) this.#scores.add(this.#file.postings(term), weight * share, mask);
      return;
    }
    for (const [term, share] of alternatives) this.#alternatives.raise(this.#file.postings(term), share, mask);
    this.#alternatives.drain((section, impact) => this.#scores.addTo(section, weight * impact));
  }

  #rank(wanted: string, spellings: Spellings, { only, links, joined, limit }: RankFacts): Found[] {
    const namedSections = new Set(only.flatMap((term) => [...this.#file.postings(term).sections]));
    // Titles are compared without signs, but a page with the title "C" must not match the query "C++".
    const isTitled = (section: number) => namedSections.size === 0 || namedSections.has(section);
    const titled = this.#takeScores(this.#titled(wanted, spellings).filter(isTitled));
    const named = this.#takeScores(namedSections);
    const candidates = this.#scores.takeBest(Math.max(limit, NEAR_CANDIDATES), this.#file.lifts);
    const others = this.#byCoverage(this.#byProximity(candidates, links), links, joined);
    return [
      ...titled.map((ranked) => ({ ...ranked, exact: 'title' as const })),
      ...named.map((ranked) => ({ ...ranked, exact: 'identifier' as const })),
      ...others.map((ranked) => ({ ...ranked, exact: null })),
    ].slice(0, limit);
  }

  /** Pages whose title is the query, or else the query with corrected misspellings. */
  #titled(wanted: string, spellings: Spellings): number[] {
    const found = this.#file.titled(titleKey(wanted));
    const corrected = found.length > 0 ? null : correctedQuery(wanted, false, this.#file, spellings);
    return corrected === null ? found : this.#file.titled(titleKey(corrected));
  }

  #byProximity(ranked: readonly Ranked[], links: readonly Link[]): readonly Ranked[] {
    const proximity = new Proximity(links);
    if (proximity.pairs === 0) return ranked;
    const candidates = ranked.slice(0, NEAR_CANDIDATES);
    const sequences = this.#file.readSequences(candidates.map(({ section }) => section));
    const nearer = candidates.map(({ section, score }) => {
      const sequence = sequences.get(section) ?? NO_SEQUENCE;
      const near = proximity.of(sequence, (count) => this.#file.impactInText(section, count));
      return { section, score: score + this.#ranking.proximity * near };
    });
    return [...nearer, ...ranked.slice(NEAR_CANDIDATES)].sort(byScore);
  }

  /** Lowers the scores of sections that lack a word of a short query, even if they repeat its other words. */
  #byCoverage(ranked: readonly Ranked[], links: readonly Link[], joined: readonly string[]): readonly Ranked[] {
    if (links.length > COVERED_WORDS_MAX) return ranked;
    const known = links.filter(({ terms }) => terms.length > 0);
    const lists = known.map(({ terms }) => [...terms, ...joined].map((term) => this.#file.postings(term).sections));
    if (lists.length < 2) return ranked;
    const factors = Array.from([0, ...lists], (_, count) => (Math.max(1, count) / lists.length) ** COVERAGE_EXPONENT);
    const lowered = ranked.map(({ section, score }) => {
      let count = 0;
      for (const each of lists) if (each.some((list) => holds(list, section))) count += 1;
      return { section, score: score * (factors[count] as number) };
    });
    return lowered.sort(byScore);
  }

  /**
   * For an identifier that the site lacks, allows sections with two or three known parts, or three quarters of more parts, because
   * a part may be misspelled: `TS9999` does not find every `TS`.
   */
  #withParts(wishes: readonly Lookup[], mask: Mask): Mask {
    const known = wishes.filter(({ alternatives, isCorrection }) => alternatives.size > 0 && !isCorrection);
    const least = Math.max(2, PARTS_SHARE * known.length);
    const counts = new Uint8Array(this.count);
    const latest = new Uint8Array(this.count);
    for (const [at, { alternatives }] of known.entries())
      for (const term of alternatives.keys())
        for (const section of this.#file.postings(term).sections) {
          if (latest[section] !== at + 1) counts[section] = (counts[section] ?? 0) + 1;
          latest[section] = at + 1;
        }
    return counts.map((count, section) => Number(count >= least && mask?.[section] !== 0));
  }

  #takeScores(sections: Iterable<number>): Ranked[] {
    const taken: Ranked[] = [];
    for (const section of sections) {
      const score = this.#scores.take(section);
      if (score > 0) taken.push({ section, score: score * (this.#file.lifts[section] ?? 1) });
    }
    return taken.sort(byScore);
  }

  #sectionsWith(names: readonly Name[], spellings: Spellings, sections: readonly number[]): ReadonlySet<number> {
    if (names.length === 0) return new Set();
    const hasWords = names.some(({ words }) => words.length > 0);
    const sequences = hasWords ? this.#file.readSequences(sections) : new Map<number, Uint16Array>();
    const tests = names.map(({ terms, words }) => {
      const lists = terms.map((term) => this.#file.postings(term).sections);
      const near = new Proximity(words.map((word) => ({ terms: spellings.keysOf(plain(word)), rarity: 1 })));
      const pairs = (section: number) => near.of(sequences.get(section) ?? NO_SEQUENCE, atMostOnce);
      // The words of an identifier must be neighbours. If there are only two, one word may be between them: `code 137` also finds
      // `code is 137`.
      const least = words.length === 2 ? 0.5 : words.length - 1;
      const hasAll = (section: number) => words.length > 1 && pairs(section) >= least;
      return (section: number) => lists.some((list) => holds(list, section)) || hasAll(section);
    });
    return new Set(sections.filter((section) => tests.every((hasName) => hasName(section))));
  }

  /** Finds sections that contain nearly all words of the query in sequence, because readers copy queries from error messages. */
  #quoting(wanted: string, spellings: Spellings, sections: readonly number[]): ReadonlySet<number> {
    const words = wordsOf(wanted).filter(({ kind }) => kind === 'word');
    const near = new Proximity(
      words.slice(0, QUOTED_MAX).map((word) => ({ terms: spellings.keysOf(word), rarity: 1 })),
    );
    if (near.pairs < QUOTED_PAIRS_MIN) return new Set();
    const sequences = this.#file.readSequences(sections);
    const inRow = (section: number) => near.of(sequences.get(section) ?? NO_SEQUENCE, atMostOnce) / near.pairs;
    return new Set(sections.filter((section) => inRow(section) >= QUOTED_PART));
  }

  /** Returns, by section, the position of the line that defines an identifier of the query. */
  #rowsOf(wanted: string, sections: readonly number[]): ReadonlyMap<number, number> {
    const rows = new Map<number, number>();
    const rowIn = rowFinder(wanted);
    if (rowIn === null) return rows;
    for (const [section, { text }] of this.#file.readSections(sections)) {
      const row = rowIn(text);
      if (row !== null) rows.set(section, row);
    }
    return rows;
  }

  /** Sections whose own heading is the query. Returns only sections of the page with the best result, and of its other versions. */
  #titledIn(wanted: string, only: readonly string[], sections: readonly number[]): ReadonlySet<number> {
    const asked = new Set([titleKey(wanted), titleKey(lastPartOf(only) ?? wanted)]);
    const read = this.#file.readHeadings(sections);
    // Count pages with the title of the best page as its versions.
    const best = read.find(({ n }) => n === sections[0])?.title;
    const titled = read.filter(({ title, heading }) => title === best && heading && asked.has(titleKey(heading)));
    return new Set(asked.has('') ? [] : titled.map(({ n }) => n));
  }

  /**
   * Sections with all identifiers of the query in title or headings. If none has them, uses the last part of a single identifier:
   * `json()` for `c.json()`.
   */
  #headedBy(names: readonly Name[], only: readonly string[], spellings: Spellings): ReadonlySet<number> {
    const needed = only.length > 0 ? [only] : names.map(({ terms }) => terms);
    const [first = new Set<number>(), ...others] = needed.map((terms) => this.#headed(terms));
    const headed = others.reduce((both, each) => both.intersection(each), first);
    const last = lastPartOf(only);
    return headed.size > 0 || last === undefined ? headed : this.#headed(spellings.keysOf(plain(last)));
  }

  #headed(terms: readonly string[]): Set<number> {
    return new Set(terms.flatMap((term) => this.#file.headedBy(term)));
  }

  #matcher(wishes: readonly Lookup[]): (section: number) => string[] {
    const terms = new Set(wishes.flatMap(({ alternatives }) => [...alternatives.keys()]));
    const postings = Array.from(terms, (term) => ({ term, sections: this.#file.postings(term).sections }));
    return (section) => postings.filter(({ sections }) => holds(sections, section)).map(({ term }) => term);
  }
}

/** Returns `parsebody` for the identifier `c.req.parsebody`. @param only index terms from `onlyIdentifier` */
const lastPartOf = (only: readonly string[]): string | undefined => /[.:#]([\p{L}_]\w*)$/u.exec(only[0] ?? '')?.[1];

const atMostOnce = (count: number): number => Math.min(1, count);

interface RankFacts {
  readonly only: readonly string[];
  readonly links: readonly Link[];
  readonly joined: readonly string[];
  readonly limit: number;
}

interface Found extends Ranked {
  readonly exact: Exact | null;
}

function holds(list: Uint32Array, number: number): boolean {
  return list[firstFrom(list.length, (at) => (list[at] as number) < number)] === number;
}

function knownPart(links: readonly Link[]): number {
  return links.length === 0 ? 0 : links.reduce((sum, { share }) => sum + share, 0) / links.length;
}
