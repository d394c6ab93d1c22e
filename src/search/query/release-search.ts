import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DocshelfError } from '../../domain/errors.ts';
import { VERSION_NAME } from '../../files/index.ts';
import { KEYWORD_FILE } from '../indexing/index-files.ts';
import { KeywordIndex } from '../keyword/keyword-index.ts';
import { type Mask, RANKING, SECONDARY_PART } from '../keyword/ranking.ts';
import type { Embedder } from '../ports.ts';
import { PLAIN_FORM, type ResultForm, type SearchFacts, type SearchRequest, type SearchResult } from '../request.ts';
import type { VectorHit, VectorIndex } from '../semantic/vector-index.ts';
import { excerptsOf } from './excerpts.ts';
import { fuse, partsOf, type RankedSection, votesOn } from './rank.ts';

/** docshelf ranks more candidates than it returns. The exact minimum matters little: with 50 or 200, nDCG changes by 0.0001. */
const CANDIDATES_PER_RESULT = 4;
const CANDIDATES_MIN = 100;

/** docshelf prefers a newer version of a page if the odds of its score are at least this share of the best version's odds. */
const AS_GOOD_PART = 0.25;
const oddsOf = (score: number): number => score / (1 - Math.min(score, 1 - Number.EPSILON));
const VERSION_SEGMENT = new RegExp(`(?<=/)(?:${VERSION_NAME})(?:/|$)`);
const UNRELEASED = /^(?:next|main|master|dev|devel|nightly|unreleased)\/?$/;

/** Sorts pages by version folder: first pages without one, then names such as `latest`, numbers (highest first), unreleased versions. */
function comparePages(one: string, other: string): number {
  const [left, right] = [one, other].map((page) => VERSION_SEGMENT.exec(page)?.[0] ?? '') as [string, string];
  const groupOf = (folder: string): number => {
    if (folder === '') return 0;
    return UNRELEASED.test(folder) ? 3 : /\d/.test(folder) ? 2 : 1;
  };
  return groupOf(left) - groupOf(right) || right.localeCompare(left, 'en', { numeric: true });
}

const OWN_BYTES = 2 * 1024 ** 2;
/** Maximum memory estimate for an open index. Larger indexes take no more memory, because their caches are limited. */
const BYTES_MAX = 48 * 1024 ** 2;

export interface SemanticParts {
  readonly embedder: Embedder;
  readonly vectors: VectorIndex;
}

interface SemanticSource {
  readonly digest: string;
  readonly revision: number;
  /** @throws DocshelfError `release_damaged`, after which queries use only keywords */
  readonly load: () => Promise<SemanticParts>;
}

export class ReleaseSearch {
  /** Estimated memory of the open index after many queries, with an error of up to 3 MB (measured). */
  readonly bytes: number;
  readonly #keyword: KeywordIndex;
  #semantic: { readonly digest: string; revision: number; readonly leg: Promise<SemanticLeg> } | null = null;
  #underway = 0;
  #isClosing = false;
  #isClosed = false;

  /** @throws DocshelfError `index_damaged` */
  constructor(searchDir: string, isSealKnown = false) {
    const file = join(searchDir, KEYWORD_FILE);
    this.#keyword = new KeywordIndex(file, RANKING, isSealKnown);
    this.bytes = Math.min(BYTES_MAX, OWN_BYTES + statSync(file).size);
  }

  get sections(): number {
    return this.#keyword.count;
  }

  async search(
    request: SearchRequest,
    label: string,
    semantic: SemanticSource | null,
    form: ResultForm = PLAIN_FORM,
  ): Promise<SearchResult[]> {
    this.#underway += 1;
    try {
      return await this.#search(request, label, semantic, form);
    } finally {
      this.#underway -= 1;
      if (this.#isClosing) this.close();
    }
  }

  facts({ query, prefixLast, filter }: SearchRequest): Omit<SearchFacts, 'semantic'> {
    const readings = this.#keyword.readings(query, prefixLast, filter.language);
    return { ...readings, facets: this.#keyword.facets };
  }

  async #search(request: SearchRequest, label: string, semantic: SemanticSource | null, form: ResultForm) {
    const { query, prefixLast, pageSize, scoreThreshold, filter, isExplained } = request;
    const limit = Math.max(CANDIDATES_MIN, CANDIDATES_PER_RESULT * pageSize);
    const leg = semantic && (await this.#semanticLeg(semantic));
    // Start the model first, because it works in another thread while this thread looks up keywords.
    const reading = leg?.read(query);
    const options = { limit, prefixLast, filter: { ...filter, label } };
    const { hits, known, isShort, allowed, rows, matchedIn } = this.#keyword.find(query, options);
    const found = hits.map(({ section }) => section);
    const vector = reading && (await reading);
    const nearest = (vector && leg?.nearest(vector, found, { allowed, limit })) ?? null;
    const { priors } = this.#keyword;
    const partOf = (section: number): number => ((priors[section] ?? 0) < 0 ? SECONDARY_PART : 1);
    const legs = { hits, nearest, known, isShort, partOf };
    const fused = fuse(legs, limit);
    const ofOneVersion = filter.version === null ? this.#ofOneVersion(fused) : fused;
    const ranked = (request.wantsFacts === true ? this.#ofOneLink(ofOneVersion) : ofOneVersion)
      .slice(0, pageSize)
      .filter(({ score }) => scoreThreshold === null || score >= scoreThreshold);
    const reasonsOf = isExplained ? (section: number) => partsOf(section, legs) : null;
    return excerptsOf(ranked, this.#keyword, { matchedIn, rows, nearest, partsOf: reasonsOf }, form);
  }

  /** Keeps one version of each page: the newest version that is nearly as relevant as the most relevant version. */
  #ofOneVersion(ranked: readonly RankedSection[]): readonly RankedSection[] {
    if (this.#keyword.facets.versions.length < 2) return ranked;
    const read = this.#keyword.sections(ranked.map(({ section }) => section));
    const best = new Map<string, Map<string, number>>();
    const placeOf = (section: number): { readonly key: string; readonly page: string } => {
      const { page = '', language = null } = read.get(section) ?? {};
      return { key: `${language} ${page.replace(VERSION_SEGMENT, '')}`, page };
    };
    for (const { section, score } of ranked) {
      const { key, page } = placeOf(section);
      const pages = best.get(key) ?? new Map<string, number>();
      best.set(key, pages.set(page, pages.get(page) ?? score));
    }
    const kept = new Set<string>();
    for (const pages of best.values()) {
      const [most = 0] = pages.values();
      const fitting = Array.from(pages, ([page, score]) => ({ page, score })).filter(
        ({ score }) => oddsOf(score) >= AS_GOOD_PART * oddsOf(most),
      );
      kept.add(fitting.sort((one, other) => comparePages(one.page, other.page))[0]?.page ?? '');
    }
    return ranked.filter(({ section }) => kept.has(placeOf(section).page));
  }

  /** For readers, keeps the best section of each link: headings without an id of their own have the link of the id before them. */
  #ofOneLink(ranked: readonly RankedSection[]): readonly RankedSection[] {
    const links = this.#keyword.links(ranked.map(({ section }) => section));
    const linkOf = (section: number) => links.get(section) ?? '';
    const best = Map.groupBy(ranked, ({ section }) => (linkOf(section).includes('#') ? linkOf(section) : section));
    return Array.from(best.values(), ([first]) => first as RankedSection);
  }

  close(): void {
    this.#isClosing = true;
    if (this.#underway > 0 || this.#isClosed) return;
    this.#isClosed = true;
    this.#keyword.close();
    this.#semantic?.leg.then((leg) => leg.close()).catch(() => undefined);
  }

  async #semanticLeg({ digest, revision, load }: SemanticSource): Promise<SemanticLeg | null> {
    if (this.#semantic?.digest !== digest) {
      const leg = load().then(({ embedder, vectors }) => {
        const readable = this.#keyword.readable((language) => embedder.reads(language));
        return new SemanticLeg(embedder, vectors, readable);
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

export class SemanticLeg {
  readonly #embedder: Embedder;
  readonly #vectors: VectorIndex;
  readonly #readable: Mask;

  constructor(embedder: Embedder, vectors: VectorIndex, readable: Mask) {
    this.#embedder = embedder;
    this.#vectors = vectors;
    this.#readable = readable;
  }

  refresh(): this {
    this.#vectors.refresh();
    return this;
  }

  close(): void {
    this.#vectors.close();
  }

  /** Embeds the query. Null if the model fails or cannot judge the query. Starts the model before the first `await`. */
  async read(query: string): Promise<Float32Array | null> {
    if (!votesOn(query, (language) => this.#embedder.reads(language))) return null;
    return this.#embedder.embedQuery(query).catch(() => null);
  }

  nearest(
    vector: Float32Array,
    given: readonly number[],
    { allowed, limit }: { readonly allowed: Mask; readonly limit: number },
  ): Map<number, VectorHit> {
    const readable = this.#readable;
    const also = readable === null ? given : given.filter((section) => readable[section] === 1);
    return this.#vectors.search(vector, { limit, allowed: both(allowed, readable), also });
  }
}

function both(one: Mask, other: Mask): Mask {
  if (one === null || other === null) return one ?? other;
  return one.map((may, section) => may & (other[section] ?? 0));
}
