import { join } from 'node:path';
import { KEYWORD_FILE } from './build-index.ts';
import { type Highlight, highlightsOf, type IndexedSection, KeywordIndex } from './keyword/index.ts';
import type { Embedder } from './ports.ts';
import { fuse } from './rank/index.ts';
import type { SearchRequest, SearchResult } from './request.ts';
import type { Passage } from './section.ts';
import { readSectionFacts, type SectionFacts } from './section-facts.ts';
import type { VectorHit, VectorIndex } from './semantic/index.ts';
import { SemanticLeg } from './semantic-leg.ts';

/** Sections that each leg brings to the ranking. Measured with 100 and 400: the order of the first ten stays. */
const CANDIDATES = 200;

/** What a release is searched by meaning with. */
export interface SemanticParts {
  readonly embedder: Embedder;
  readonly vectors: VectorIndex;
}

/** A release's index, open for search. Its keyword leg is synchronous: to be used in a worker. */
export class ReleaseSearch {
  readonly #keyword: KeywordIndex;
  readonly #facts: SectionFacts;
  #loadSemantic: (() => Promise<SemanticParts>) | null = null;
  #semantic: Promise<SemanticLeg> | null = null;

  private constructor(keyword: KeywordIndex, facts: SectionFacts) {
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

  /** @param load called with the first query. */
  useSemantic(load: () => Promise<SemanticParts>): void {
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
    const leg = await this.#semanticLeg();
    // Asked first: the model reads the query in its thread while the keywords are looked up in this one.
    const reading = leg?.read(query);
    const { hits, known, allowed, matchedIn } = this.#keyword.find(query, { limit: CANDIDATES, prefixLast, filter });
    const found = hits.map(({ section }) => section);
    const vector = await reading;
    const nearest = (vector && leg?.nearest(vector, found, { allowed, limit: CANDIDATES })) ?? null;
    const ranked = fuse(
      {
        normalised: new Map(hits.map((hit) => [hit.section, hit.normalised])),
        cosines: nearest && new Map(Array.from(nearest, ([section, hit]) => [section, hit.cosine])),
        exact: new Map(hits.flatMap((hit) => (hit.exact === null ? [] : [[hit.section, hit.exact] as const]))),
        known,
      },
      pageSize,
    ).filter(({ score }) => scoreThreshold === null || score >= scoreThreshold);
    const sections = this.#keyword.sections(ranked.map(({ section }) => section));
    return ranked.flatMap(({ section, score }) => {
      const read = sections.get(section);
      if (read === undefined) return [];
      return [resultOf(read, score, this.#shown(section, read, matchedIn(section), nearest?.get(section)))];
    });
  }

  close(): void {
    this.#keyword.close();
  }

  /** Where the model cannot be had (an endpoint that does not answer), keywords answer alone, and the next query asks again. */
  async #semanticLeg(): Promise<SemanticLeg | null> {
    const load = this.#loadSemantic;
    if (load === null) return null;
    this.#semantic ??= load().then(({ embedder, vectors }) => new SemanticLeg(embedder, vectors, this.#facts));
    return this.#semantic.catch(() => {
      this.#semantic = null;
      return null;
    });
  }

  /** The passage to show: the one nearest in meaning, else the one with the most of the query's words. */
  #shown(section: number, read: IndexedSection, matched: readonly string[], near: VectorHit | undefined): Shown {
    const passages = this.#facts.passages(section);
    if (passages.length < 2) {
      // A heading with nothing under it is found by its own words, and they are what there is to show.
      return marked(read.text || (read.headings.at(-1) ?? read.title), matched);
    }
    const nearest = near && passages[near.passage];
    if (nearest !== undefined) return marked(read.text.slice(nearest.start, nearest.end), matched);
    return mostMarked(read.text, passages, matched);
  }
}

/** What a result shows of its section. */
interface Shown {
  readonly content: string;
  readonly highlights: readonly Highlight[];
}

function marked(content: string, matched: readonly string[]): Shown {
  return { content, highlights: highlightsOf(content, matched) };
}

/** The passage with the most places that are highlighted; of equals, the first. */
function mostMarked(text: string, passages: readonly Passage[], matched: readonly string[]): Shown {
  const places = highlightsOf(text, matched);
  const candidates = passages.map(({ start, end }) => ({
    content: text.slice(start, end),
    highlights: places
      .filter((place) => place.start >= start && place.end <= end)
      .map((place) => ({ start: place.start - start, end: place.end - start })),
  }));
  return candidates.reduce((most, each) => (each.highlights.length > most.highlights.length ? each : most));
}

function resultOf(read: IndexedSection, score: number, { content, highlights }: Shown): SearchResult {
  const { path, title, headings, version, language, tags } = read;
  return { content, path, metadata: { score, title, headings, version, language, tags, highlights } };
}

function filterOf({ filter }: SearchRequest, label: string) {
  const { version, language, tag } = filter;
  return {
    ...(version === null ? {} : { version, orUnsaid: version === label }),
    ...(language === null ? {} : { language }),
    ...(tag === null ? {} : { tag }),
  };
}
