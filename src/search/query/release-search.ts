import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { DocshelfError } from '../../domain/errors.ts';
import { KEYWORD_FILE } from '../indexing/index-files.ts';
import { KeywordIndex, RANKING, type SectionFacts } from '../keyword/index.ts';
import type { Embedder } from '../ports.ts';
import type { SearchFacts, SearchRequest, SearchResult } from '../request.ts';
import type { VectorIndex } from '../semantic/index.ts';
import { fuse, partsOf } from './rank.ts';
import { SemanticLeg } from './semantic-leg.ts';
import { ShownSections } from './shown-sections.ts';

/** For each result, and at least: 50 or 200 change the measures by .0001. */
const CANDIDATES_PER_RESULT = 4;
const CANDIDATES_MIN = 100;

/** Excerpts for each result that are made while the model reads the query, 2 ms of its 3; .95, .93 and .90 of results are among them. */
const PREPARED = 1.5;

const PENDING = Symbol('pending');

export interface SemanticParts {
  readonly embedder: Embedder;
  readonly vectors: VectorIndex;
}

/** The vectors of one model, read by the first query. */
export interface SemanticSource {
  /** Of the model. */
  readonly digest: string;
  /** Another one where vectors have joined since. */
  readonly revision: number;
  /** @throws DocshelfError `release_damaged` where the vectors are, and it is of no use to ask again */
  readonly load: () => Promise<SemanticParts>;
}

export class ReleaseSearch {
  readonly #keyword: KeywordIndex;
  readonly #facts: SectionFacts;
  #semantic: { readonly digest: string; revision: number; readonly leg: Promise<SemanticLeg> } | null = null;
  #vectorBytes = 0;
  #underway = 0;
  #isClosing = false;
  #isClosed = false;

  private constructor(keyword: KeywordIndex) {
    this.#keyword = keyword;
    this.#facts = keyword.facts;
  }

  /** @param isSealKnown see `KeywordIndex.open` */
  static open(searchDir: string, isSealKnown = false): ReleaseSearch {
    return new ReleaseSearch(KeywordIndex.open(join(searchDir, KEYWORD_FILE), RANKING, isSealKnown));
  }

  get sections(): number {
    return this.#keyword.count;
  }

  /** In memory, about. It grows with what is asked. */
  get bytes(): number {
    return this.#keyword.bytes + this.#facts.bytes + this.#vectorBytes;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** @param semantic null: by keywords alone */
  async search(request: SearchRequest, label: string, semantic: SemanticSource | null): Promise<SearchResult[]> {
    this.#underway += 1;
    try {
      return await this.#search(request, label, semantic);
    } finally {
      this.#underway -= 1;
      if (this.#isClosing) this.close();
    }
  }

  /** What the query and its site are like, whatever was found. */
  facts({ query, prefixLast }: SearchRequest): Omit<SearchFacts, 'semantic'> {
    return { corrected: this.#keyword.corrected(query, prefixLast), facets: this.#keyword.facets };
  }

  async #search(request: SearchRequest, label: string, semantic: SemanticSource | null): Promise<SearchResult[]> {
    const { query, prefixLast, pageSize, scoreThreshold, filter, isExplained } = request;
    const limit = Math.max(CANDIDATES_MIN, CANDIDATES_PER_RESULT * pageSize);
    const leg = semantic && (await this.#semanticLeg(semantic));
    // Asked first: the model reads the query in its thread while the keywords are looked up in this one.
    const reading = leg?.read(query);
    const findings = this.#keyword.find(query, { limit, prefixLast, filter: filterOf(filter, label) });
    const { hits, known, allowed, matchedIn } = findings;
    const found = hits.map(({ section }) => section);
    const shown = new ShownSections(this.#keyword, this.#facts, matchedIn);
    const vector = reading && (await this.#meanwhile(reading, shown.prepare(found.slice(0, PREPARED * pageSize))));
    const nearest = (vector && leg?.nearest(vector, found, { allowed, limit })) ?? null;
    const legs = { hits, nearest, known };
    const ranked = fuse(legs, pageSize).filter(({ score }) => scoreThreshold === null || score >= scoreThreshold);
    const passageOf = (section: number) => nearest?.get(section)?.passage;
    return shown.results(ranked, passageOf, isExplained ? (section) => partsOf(section, legs) : null);
  }

  /** Once the queries under way have their answers. */
  close(): void {
    this.#isClosing = true;
    if (this.#underway > 0 || this.#isClosed) return;
    this.#isClosed = true;
    this.#keyword.close();
    this.#semantic?.leg.then((leg) => leg.close()).catch(() => undefined);
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

  /** Where the model cannot be had, keywords answer alone, and the next query asks again. */
  async #semanticLeg({ digest, revision, load }: SemanticSource): Promise<SemanticLeg | null> {
    if (this.#semantic?.digest !== digest) {
      const leg = load().then(({ embedder, vectors }) => {
        this.#vectorBytes = vectors.bytes;
        return new SemanticLeg(embedder, vectors, this.#facts);
      });
      this.#semantic = { digest, revision, leg };
    }
    const semantic = this.#semantic;
    const isNewer = semantic.revision !== revision;
    semantic.revision = revision;
    const leg = isNewer ? semantic.leg.then((known) => known.refresh()) : semantic.leg;
    return leg.catch((error: unknown) => {
      const isDamaged = error instanceof DocshelfError && error.code === 'release_damaged';
      if (!isDamaged && this.#semantic === semantic) this.#semantic = null;
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
