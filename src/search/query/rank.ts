import type { ScoreReasons } from '../../domain/search.ts';
import type { Exact, KeywordHit } from '../keyword/keyword-index.ts';
import { Best } from '../keyword/ranking.ts';
import { lettersByScript } from '../semantic/scripts.ts';

interface Legs {
  readonly hits: readonly Pick<KeywordHit, 'section' | 'normalised' | 'exact' | 'names'>[];
  readonly nearest: ReadonlyMap<number, { readonly cosine: number }> | null;
  readonly known: number;
  /** Factor that lowers the cosine of change logs and lists. The keyword score `normalised` already includes this factor. */
  readonly partOf?: (section: number) => number;
  /** True for a query of one or two words. */
  readonly isShort: boolean;
}

export interface RankedSection {
  readonly section: number;
  /** Score from 0 to 1, comparable between queries. Never higher than the score of the previous result. */
  readonly score: number;
}

export type RankParts = Omit<ScoreReasons, 'places' | 'prior'>;

/**
 * Relevance = known · n^0.8 + 1.9 · cosine², where n is the keyword score `normalised`, and known is the share of the query that
 * occurs on the site. The numbers are not critical: keyword exponents of 0.7 to 0.9 and cosine weights of 1.7 to 2 change nDCG@10
 * by at most 0.005 (measured).
 */
const KEYWORD_EXPONENT = 0.8;
const COSINE_WEIGHT = 1.9;
/** Cap for the keyword score `normalised`. Sections with each word of a short query in title, headings and text reach about 3.1. */
const KEYWORDS_MAX = 3;
/** Weight of a keyword score above the cap, which otherwise would not affect the order. */
const ABOVE_MAX_WEIGHT = 0.01;
/** Relevance to add for an exact match. Keywords and cosine together add at most 4.4, so they never outweigh an exact match. */
const EXACT_LIFT: Readonly<Record<Exact, number>> = { title: 9, identifier: 4.5 };
/** With this weight, sections with the whole identifier `1.2.3` rank above sections with only a part of it, such as `1.2`. */
const NAMES_LIFT = 1;

/**
 * Minimum cosine of a result that contains no word of the query. In measurements, queries of made-up words stay below 0.47,
 * and relevant results have at least 0.51. Long queries seldom have made-up words, and their relevant results can have 0.45.
 */
const MEANING_ALONE_MIN = { short: 0.47, long: 0.4 };

/** Merges keyword hits and nearest vectors by relevance. */
export function fuse({ hits, nearest, known, isShort, partOf = () => 1 }: Legs, limit: number): RankedSection[] {
  const best = new Best(limit);
  const found = new Map<number, number>();
  for (const hit of hits) {
    const keywords = keywordPart(hit.normalised, known);
    const near = cosinePart(nearest?.get(hit.section)?.cosine ?? 0) * partOf(hit.section);
    found.set(hit.section, keywords);
    best.offer(hit.section, keywords + near + liftOf(hit));
  }
  const cosineMin = isShort ? MEANING_ALONE_MIN.short : MEANING_ALONE_MIN.long;
  let bestCosine: number | null = null;
  for (const [section, { cosine }] of nearest ?? []) {
    bestCosine = Math.max(bestCosine ?? 0, cosine);
    if (found.has(section) || cosine < cosineMin) continue;
    best.offer(section, cosinePart(cosine) * partOf(section));
  }
  const facts: QueryFacts = { known, bestCosine };
  let previous = 1;
  return best.ranked().map(({ section, score: relevance }) => {
    // For a short query, use the score from keywords alone if it is higher, because the model knows little about single words and
    // identifiers.
    const byWords = isShort ? scoreOf(found.get(section) ?? 0, { known, bestCosine: null }) : 0;
    previous = Math.min(previous, Math.max(scoreOf(relevance, facts), byWords));
    return { section, score: previous };
  });
}

export function partsOf(section: number, { hits, nearest, known, partOf = () => 1 }: Legs): RankParts {
  const { normalised = 0, exact = null, names = 0 } = hits.find((hit) => hit.section === section) ?? {};
  const cosine = nearest?.get(section)?.cosine ?? null;
  const meaning = cosine === null ? null : cosinePart(cosine) * partOf(section);
  return { words: keywordPart(normalised, known), meaning, lift: liftOf({ exact, names }), exact };
}

function liftOf({ exact, names }: Pick<KeywordHit, 'exact' | 'names'>): number {
  return (exact === null ? 0 : EXACT_LIFT[exact]) + names * NAMES_LIFT;
}

function cosinePart(cosine: number): number {
  return COSINE_WEIGHT * Math.min(1, Math.max(0, cosine)) ** 2;
}

/**
 * The factor `known` is the share of the query that occurs on the site. The factor makes keywords less important than the cosine
 * if the query and the site have only a proper name in common, for example an English question about Japanese pages.
 */
function keywordPart(normalised: number, known: number): number {
  const capped = Math.min(KEYWORDS_MAX, normalised);
  return known * (capped ** KEYWORD_EXPONENT + ABOVE_MAX_WEIGHT * Math.min(1, normalised - capped));
}

interface QueryFacts {
  readonly known: number;
  readonly bestCosine: number | null;
}

/**
 * Logistic functions from relevance to score, which give low scores if the site cannot answer the query. Fitted on four sets of
 * queries, each also run on the sites of the other sets. Mean area under the ROC curve: 0.970, or 0.924 with keywords only.
 */
const WITH_COSINE = { relevance: 2.45, bestCosine: 12.66, known: 5.66, offset: -13.18 };
const KEYWORDS_ALONE = { relevance: 3.35, bestCosine: 0, known: 9.15, offset: -10.65 };

export function scoreOf(relevance: number, { known, bestCosine }: QueryFacts): number {
  const curve = bestCosine === null ? KEYWORDS_ALONE : WITH_COSINE;
  const logit = curve.relevance * relevance + curve.bestCosine * (bestCosine ?? 0) + curve.known * known + curve.offset;
  return 1 / (1 + Math.exp(-logit));
}

/**
 * Maximum share of letters in a query that the model cannot read, such as those of a foreign name. Above this share, only
 * keywords count.
 */
const UNREADABLE_PART_MAX = 0.25;

/** True if the model can judge the query. False if the query has no letters or digits, or is in a script that the model cannot read. */
export function votesOn(query: string, reads: (language: string) => boolean): boolean {
  if (!/[\p{L}\p{N}]/u.test(query)) return false;
  let letters = 0;
  let unreadable = 0;
  for (const [script, count] of lettersByScript(query)) {
    letters += count;
    if (!reads(`und-${script}`)) unreadable += count;
  }
  return unreadable <= letters * UNREADABLE_PART_MAX;
}
