import type { ScoreReasons } from '../../domain/search.ts';
import type { Exact, KeywordHit } from '../keyword/keyword-index.ts';
import { Best } from '../keyword/ranking.ts';
import { lettersByScript } from '../semantic/scripts.ts';

interface Legs {
  readonly hits: readonly Pick<KeywordHit, 'section' | 'normalised' | 'exact' | 'names'>[];
  readonly nearest: ReadonlyMap<number, { readonly cosine: number }> | null;
  readonly known: number;
  /**
   * Factor of a section, lower for change logs and lists. Multiplies only the cosine part, because `normalised` of a hit already
   * includes the factor.
   */
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
 * relevance = known · n^0.8 + 1.9 · cosine², where n is `normalised` of the keyword hit. The square reduces the effect of distant
 * passages, so that neither part outweighs the other. All sites use the same numbers, because similar numbers give similar
 * results. With 0.7 to 0.9 instead of 0.8, 1.7 to 2 instead of 1.9, and cosine exponents of 1.5 to 2, nDCG@10 of each of four
 * sets stays within 0.005.
 */
const KEYWORD_EXPONENT = 0.8;
const COSINE_WEIGHT = 1.9;
/** Maximum of n. A section with all words of a short query in title, headings and text has about this value: 3.1 (four sets). */
const KEYWORDS_MAX = 3;
/** Added to the relevance of exact matches. Keywords and cosine add at most 4.4, so they never outweigh an exact match. */
const EXACT_LIFT: Readonly<Record<Exact, number>> = { title: 9, identifier: 4.5 };
/**
 * Factor of `names` of a hit. Sections with `1.2.3` come before sections with parts of this name, even if the model prefers the
 * latter.
 */
const NAMES_LIFT = 1;

/**
 * Minimum cosine of a result without any word of the query. For short queries, 30 made-up words stay below 0.47 on four
 * development sets. Relevant results that only the model finds have at least 0.51. For longer queries, the minimum is lower,
 * because a longer query is seldom made up. For "how do I get my money back", a page about refunds has 0.45.
 */
const MEANING_ALONE_MIN = { short: 0.47, long: 0.4 };

/** Merges keyword hits and nearest vectors, and sorts them by relevance. The score of a section rises with its relevance. */
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
    // For a short query, the words alone may give a higher score, because the model knows little about single words and nothing
    // about names.
    const byWords = isShort ? scoreOf(found.get(section) ?? 0, { known, bestCosine: null }) : 0;
    previous = Math.min(previous, Math.max(scoreOf(relevance, facts), byWords));
    return { section, score: previous };
  });
}

export function partsOf(section: number, { hits, nearest, known }: Legs): RankParts {
  const { normalised = 0, exact = null, names = 0 } = hits.find((hit) => hit.section === section) ?? {};
  const cosine = nearest?.get(section)?.cosine ?? null;
  const meaning = cosine === null ? null : cosinePart(cosine);
  return { words: keywordPart(normalised, known), meaning, lift: liftOf({ exact, names }), exact };
}

function liftOf({ exact, names }: Pick<KeywordHit, 'exact' | 'names'>): number {
  return (exact === null ? 0 : EXACT_LIFT[exact]) + names * NAMES_LIFT;
}

function cosinePart(cosine: number): number {
  return COSINE_WEIGHT * Math.min(1, Math.max(0, cosine)) ** 2;
}

/**
 * Weighs keywords by the share of the query that the site knows, because an English question on Japanese pages matches only the
 * product's name. With a multilingual model, this raised the mean reciprocal rank from 0.51 to 0.53 and R@3 from 0.56 to 0.64. If
 * pages and questions have the same language, results do not change.
 */
function keywordPart(normalised: number, known: number): number {
  return known * Math.min(KEYWORDS_MAX, normalised) ** KEYWORD_EXPONENT;
}

interface QueryFacts {
  readonly known: number;
  readonly bestCosine: number | null;
}

/**
 * Logistic curves from relevance to score, which separate the best results of answerable and unanswerable queries. They are
 * fitted on four development sets, with the queries of each set against the documents of the others (twelve pairs of equal
 * weight). The mean area under the ROC curve is 0.970 (0.950 to 1.000, but 0.913 and 0.932 between the two sets of code). With
 * keywords only, the mean is 0.924 (0.790 to 0.991).
 */
const WITH_COSINE = { relevance: 2.45, bestCosine: 12.66, known: 5.66, offset: -13.18 };
const KEYWORDS_ALONE = { relevance: 3.35, bestCosine: 0, known: 9.15, offset: -10.65 };

export function scoreOf(relevance: number, { known, bestCosine }: QueryFacts): number {
  const curve = bestCosine === null ? KEYWORDS_ALONE : WITH_COSINE;
  const logit = curve.relevance * relevance + curve.bestCosine * (bestCosine ?? 0) + curve.known * known + curve.offset;
  return 1 / (1 + Math.exp(-logit));
}

/**
 * Maximum share of a query's letters that the model cannot read, such as those of a foreign name. With more such letters, the
 * model would judge only the rest of the query.
 */
const UNREADABLE_PART_MAX = 0.25;

/** True if the model can judge the query. The model knows nothing about queries of signs, and cannot read every script. */
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
