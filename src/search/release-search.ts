import { join } from 'node:path';
import { KEYWORD_FILE } from './build-index.ts';
import { highlightsOf, type IndexedSection, type KeywordHit, KeywordIndex } from './keyword/index.ts';
import type { Embedder } from './ports.ts';
import { fuse, votesOf } from './rank/index.ts';
import type { SearchRequest, SearchResult } from './request.ts';
import { readSectionFacts, type SectionFacts } from './section-facts.ts';
import type { VectorHit, VectorIndex } from './semantic/index.ts';

/** Sections that each leg brings to the ranking. Measured with 100 and 400: the order of the first ten stays. */
const CANDIDATES = 200;

/** The semantic leg of a release, once its passages are embedded. */
export interface SemanticLeg {
  readonly embedder: Embedder;
  readonly vectors: VectorIndex;
}

/** A release's index, open for search. Its keyword leg is synchronous: to be used in a worker. */
export class ReleaseSearch {
  readonly #keyword: KeywordIndex;
  readonly #facts: readonly SectionFacts[];
  #loadSemantic: (() => Promise<SemanticLeg>) | null = null;
  #semantic: Promise<SemanticLeg> | null = null;

  private constructor(keyword: KeywordIndex, facts: readonly SectionFacts[]) {
    this.#keyword = keyword;
    this.#facts = facts;
  }

  /** @throws DocshelfError `index_damaged`. */
  static async open(searchDir: string): Promise<ReleaseSearch> {
    const keyword = KeywordIndex.open(join(searchDir, KEYWORD_FILE));
    try {
      return new ReleaseSearch(keyword, await readSectionFacts(searchDir, keyword.count));
    } catch (error) {
      keyword.close();
      throw error;
    }
  }

  get sections(): number {
    return this.#keyword.count;
  }

  /** @param load called with the first query that the model may vote on. */
  useSemantic(load: () => Promise<SemanticLeg>): void {
    this.#loadSemantic = load;
    this.#semantic = null;
  }

  /**
   * The results, best first.
   *
   * @param label the release's version: what `filter.version` names where a page says no version of itself
   */
  async search(request: SearchRequest, label: string): Promise<SearchResult[]> {
    const { query, prefixLast, pageSize, scoreThreshold } = request;
    const filter = filterOf(request, label);
    const { hits, known } = this.#keyword.find(query, { limit: CANDIDATES, prefixLast, filter });
    const nearest = await this.#nearest(query, hits, this.#keyword.allowed(filter, query));
    const ranked = fuse({
      normalised: new Map(hits.map((hit) => [hit.section, hit.normalised])),
      cosines: nearest && new Map([...nearest].map(([section, hit]) => [section, hit.cosine])),
      exact: new Map(hits.flatMap((hit) => (hit.exact === null ? [] : [[hit.section, hit.exact] as const]))),
      known,
    });
    const matched = new Map(hits.map((hit) => [hit.section, hit.matched]));
    return ranked
      .slice(0, pageSize)
      .filter(({ score }) => scoreThreshold === null || score >= scoreThreshold)
      .flatMap(({ section, score }) => {
        const found = this.#keyword.section(section);
        if (found === null) return [];
        return [
          this.#result(found, score, matched.get(section) ?? [], this.#passageOf(section, found, matched, nearest)),
        ];
      });
  }

  close(): void {
    this.#keyword.close();
  }

  /** The best passage of each section that the model finds or may judge; null where it has no vote. */
  async #nearest(
    query: string,
    hits: readonly KeywordHit[],
    allowed: Uint8Array | null,
  ): Promise<Map<number, VectorHit> | null> {
    const semantic = await this.#semanticLeg();
    if (semantic === null) return null;
    const { embedder, vectors } = semantic;
    const votes = votesOf(query, (language) => embedder.reads(language));
    if (votes === null) return null;
    // Asked for every section, answered once a language: working out a tag's script takes some microseconds.
    const byLanguage = new Map<string | null, boolean>();
    const mayJudge = (section: number): boolean => {
      const language = this.#facts[section]?.language ?? null;
      const known = byLanguage.get(language) ?? votes(language);
      byLanguage.set(language, known);
      return known;
    };
    const vector = await embedder.embedQuery(query).catch(() => null);
    if (vector === null) return null;
    const found = vectors.search(vector, {
      limit: CANDIDATES,
      allows: (section) => (allowed === null || allowed[section] === 1) && mayJudge(section),
    });
    const nearest = vectors.cosines(vector, hits.map((hit) => hit.section).filter(mayJudge));
    for (const hit of found) nearest.set(hit.section, hit);
    return nearest;
  }

  /** Where the model cannot be had (an endpoint that does not answer), keywords answer alone, and the next query asks again. */
  async #semanticLeg(): Promise<SemanticLeg | null> {
    if (this.#loadSemantic === null) return null;
    this.#semantic ??= this.#loadSemantic();
    return this.#semantic.catch(() => {
      this.#semantic = null;
      return null;
    });
  }

  /** The passage to show: the one nearest in meaning, else the one with the most of the query's words. */
  #passageOf(
    section: number,
    { text }: IndexedSection,
    matched: ReadonlyMap<number, readonly string[]>,
    nearest: ReadonlyMap<number, VectorHit> | null,
  ): string {
    const passages = this.#facts[section]?.passages ?? [];
    if (passages.length < 2) return text;
    const near = nearest?.get(section);
    const texts = passages.map(({ start, end }) => text.slice(start, end));
    if (near !== undefined) return texts[near.passage] ?? text;
    const terms = matched.get(section) ?? [];
    const counts = texts.map((passage) => highlightsOf(passage, terms).length);
    return texts[counts.indexOf(Math.max(...counts))] ?? text;
  }

  #result(found: IndexedSection, score: number, matched: readonly string[], passage: string): SearchResult {
    const { path, title, headings, version, language, tags } = found;
    // A heading with nothing under it is found by its own words, and they are what there is to show.
    const content = passage === '' ? (headings.at(-1) ?? title) : passage;
    return {
      content,
      path,
      metadata: { score, title, headings, version, language, tags, highlights: highlightsOf(content, matched) },
    };
  }
}

function filterOf({ filter }: SearchRequest, label: string) {
  const { version, language, tag } = filter;
  return {
    ...(version === null ? {} : { version, orUnsaid: version === label }),
    ...(language === null ? {} : { language }),
    ...(tag === null ? {} : { tag }),
  };
}
