import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { KEYWORD_FILE } from '../indexing/build-index.ts';
import { readSectionFacts, type SectionFacts } from '../indexing/section-facts.ts';
import { KeywordIndex } from '../keyword/index.ts';
import type { Embedder } from '../ports.ts';
import type { SearchRequest, SearchResult } from '../request.ts';
import type { VectorIndex } from '../semantic/index.ts';
import { fuse } from './rank.ts';
import { SemanticLeg } from './semantic-leg.ts';
import { ShownSections } from './shown-sections.ts';

/** For each result, and at least: 50 or 200 change the measures by .0001. */
const CANDIDATES_PER_RESULT = 4;
const CANDIDATES_MIN = 100;

/** Excerpts for each result that are made while the model reads the query, 2 ms of its 3; .95, .93 and .90 of results are among them. */
const PREPARED = 1.5;

const PENDING = Symbol('pending');

interface SemanticParts {
  readonly embedder: Embedder;
  readonly vectors: VectorIndex;
}

export class ReleaseSearch {
  readonly #keyword: KeywordIndex;
  readonly #facts: SectionFacts;
  #loadSemantic: (() => Promise<SemanticParts>) | null = null;
  #semantic: Promise<SemanticLeg> | null = null;
  #underway = 0;

  private constructor(keyword: KeywordIndex, facts: SectionFacts) {
    this.#keyword = keyword;
    this.#facts = facts;
  }

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

  useSemantic(load: () => Promise<SemanticParts>): void {
    this.#loadSemantic = load;
    this.#semantic = null;
  }

  async search(request: SearchRequest, label: string): Promise<SearchResult[]> {
    this.#underway += 1;
    try {
      return await this.#search(request, label);
    } finally {
      this.#underway -= 1;
    }
  }

  async #search({ query, prefixLast, pageSize, scoreThreshold, filter }: SearchRequest, label: string) {
    const limit = Math.max(CANDIDATES_MIN, CANDIDATES_PER_RESULT * pageSize);
    const leg = await this.#semanticLeg();
    // Asked first: the model reads the query in its thread while the keywords are looked up in this one.
    const reading = leg?.read(query);
    const findings = this.#keyword.find(query, { limit, prefixLast, filter: filterOf(filter, label) });
    const { hits, known, allowed, matchedIn } = findings;
    const found = hits.map(({ section }) => section);
    const shown = new ShownSections(this.#keyword, this.#facts, matchedIn);
    const vector = reading && (await this.#meanwhile(reading, shown.prepare(found.slice(0, PREPARED * pageSize))));
    const nearest = (vector && leg?.nearest(vector, found, { allowed, limit })) ?? null;
    const ranked = fuse({ hits, nearest, known }, pageSize).filter(
      ({ score }) => scoreThreshold === null || score >= scoreThreshold,
    );
    return shown.results(ranked, (section) => nearest?.get(section)?.passage);
  }

  close(): void {
    this.#keyword.close();
  }

  /** Works ahead, unless other searches wait for this thread: some of that work is for nothing. */
  async #meanwhile<Result>(awaited: Promise<Result>, steps: Iterator<void>): Promise<Result> {
    let isOver = false;
    while (!isOver && this.#underway === 1) {
      const first = await Promise.race([awaited, setImmediate(PENDING)]);
      isOver = first !== PENDING || steps.next().done === true;
    }
    return awaited;
  }

  /** Without a model keywords answer alone, and the next query asks again. */
  async #semanticLeg(): Promise<SemanticLeg | null> {
    const load = this.#loadSemantic;
    if (load === null) return null;
    this.#semantic ??= load().then(({ embedder, vectors }) => new SemanticLeg(embedder, vectors, this.#facts));
    return this.#semantic.catch(() => {
      this.#semantic = null;
      return null;
    });
  }
}

function filterOf({ version, language, tag }: SearchRequest['filter'], label: string) {
  return {
    ...(version === null ? {} : { version, orUnsaid: version === label }),
    ...(language === null ? {} : { language }),
    ...(tag === null ? {} : { tag }),
  };
}
