import type { ScoreReasons } from '../../domain/search.ts';
import type { Exact, KeywordHit } from '../keyword/keyword-index.ts';
import { Best } from '../keyword/ranking.ts';
import { lettersByScript } from '../semantic/scripts.ts';

interface Legs {
  readonly hits: readonly Pick<KeywordHit, 'section' | 'normalised' | 'exact' | 'names'>[];
  readonly nearest: ReadonlyMap<number, { readonly cosine: number }> | null;
  readonly known: number;
  /** Factor for the cosine of a section, lower for change logs and lists. `normalised` of a hit already includes this factor. */
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
 * relevance = known · n^0.8 + 1.9 · cosine², where n is `normalised` of the keyword hit. The square keeps distant passages low.
 * With exponents of 0.7 to 0.9, weights of 1.7 to 2, and cosine exponents of 1.5 to 2, nDCG@10 stays within 0.005 (four sets).
 */
const KEYWORD_EXPONENT = 0.8;
const COSINE_WEIGHT = 1.9;
/** Maximum of `normalised`. A section with all words of a short query in title, headings and text has about 3.1 (four sets). */
const KEYWORDS_MAX = 3;
/** Keywords and cosine add at most 4.4 to the relevance, so they never outweigh an exact match. */
const EXACT_LIFT: Readonly<Record<Exact, number>> = { title: 9, identifier: 4.5 };
/** With this factor, sections with `1.2.3` rank above sections with parts of this name, even if the model prefers the parts. */
const NAMES_LIFT = 1;

/**
 * Minimum cosine of a result without a word of the query. On four sets, made-up words stay below 0.47, and relevant results that
 * only the model finds have at least 0.51. A long query is seldom made up: for "how do I get my money back", a page about refunds
 * has 0.45.
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
    // The model knows little about single words and nothing about names, so keywords alone may give a higher score.
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
 * `known` is the share of the query that occurs on the site. This share is low if an English question matches only a name on
 * Japanese pages. With a multilingual model, the factor raised R@3 from 0.56 to 0.64. Within one language, results do not change.
 */
function keywordPart(normalised: number, known: number): number {
  return known * Math.min(KEYWORDS_MAX, normalised) ** KEYWORD_EXPONENT;
}

interface QueryFacts {
  readonly known: number;
  readonly bestCosine: number | null;
}

/**
 * Logistic curves from relevance to score, which separate answerable from unanswerable queries. Fitted on four development sets,
 * where queries of one set are unanswerable on another. Mean area under the ROC curve: 0.970, or 0.924 with keywords only.
 */
const WITH_COSINE = { relevance: 2.45, bestCosine: 12.66, known: 5.66, offset: -13.18 };
const KEYWORDS_ALONE = { relevance: 3.35, bestCosine: 0, known: 9.15, offset: -10.65 };

export function scoreOf(relevance: number, { known, bestCosine }: QueryFacts): number {
  const curve = bestCosine === null ? KEYWORDS_ALONE : WITH_COSINE;
  const logit = curve.relevance * relevance + curve.bestCosine * (bestCosine ?? 0) + curve.known * known + curve.offset;
  return 1 / (1 + Math.exp(-logit));
}

/** Maximum share of letters that the model cannot read, as in a foreign name. Above this share, only keywords count. */
const UNREADABLE_PART_MAX = 0.25;

/** True if the model can judge the query. False for a query of signs, or in a script that the model cannot read. */
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
