import { Best } from '../keyword/best.ts';
import type { Exact, KeywordHit } from '../keyword/keyword-index.ts';
import { lettersByScript } from '../semantic/scripts.ts';

interface Legs {
  readonly hits: readonly Pick<KeywordHit, 'section' | 'normalised' | 'exact'>[];
  /** On the common scale, of each section that the model may judge; null: it has no vote at all. */
  readonly nearest: ReadonlyMap<number, { readonly cosine: number }> | null;
  readonly known: number;
}

export interface RankedSection {
  readonly section: number;
  /** 0 to 1, comparable between queries; the order of results is by this alone. */
  readonly score: number;
}

/**
 * The keyword score that counts half, and the cosine's weight beside the keywords' 0 to 1. One setting for all sites; the
 * neighbourhood is flat (.30 to .60, .35 to .60: the mean nDCG@10 of three sets stays within .004).
 */
const SATURATION = 0.4;
const COSINE_WEIGHT = 0.4;
/** Each more than all that is below it can have: keywords and cosine give at most 1.4. */
const EXACT_LIFT: Readonly<Record<Exact, number>> = { title: 3, identifier: 1.5 };

/** Both legs in one order by absolute scores, so that one number is both the order and, by a monotone curve, the score. */
export function fuse({ hits, nearest, known }: Legs, limit: number): RankedSection[] {
  const best = new Best(limit);
  const found = new Set<number>();
  for (const { section, normalised, exact } of hits) {
    found.add(section);
    const lift = exact === null ? 0 : EXACT_LIFT[exact];
    best.offer(section, keywordPart(normalised, known) + cosinePart(nearest?.get(section)?.cosine ?? 0) + lift);
  }
  let bestCosine: number | null = null;
  for (const [section, { cosine }] of nearest ?? []) {
    bestCosine = Math.max(bestCosine ?? 0, cosine);
    if (!found.has(section)) best.offer(section, cosinePart(cosine));
  }
  const facts: QueryFacts = { known, bestCosine };
  return best.ranked().map(({ section, score: relevance }) => ({ section, score: scoreOf(relevance, facts) }));
}

function cosinePart(cosine: number): number {
  return COSINE_WEIGHT * Math.min(1, Math.max(0, cosine));
}

/**
 * Keywords count by the share of the query that the site knows: an English question about Japanese pages meets a product's name on
 * every page and nothing else (mean reciprocal rank .51 -> .53 by a multilingual model, R@3 .56 -> .64; in one language no difference).
 */
function keywordPart(normalised: number, known: number): number {
  return (known * normalised) / (normalised + SATURATION);
}

interface QueryFacts {
  readonly known: number;
  readonly bestCosine: number | null;
}

/**
 * Logistic from relevance to score, fitted to tell the best result of a query that a site answers from that of one that
 * it does not (three development sets, the queries of each against the documents of all; the nine pairs weigh the
 * same). The query's own facts move the curve and never the order. Area under it: .973 over all pairs, .951 to .999 for
 * each; by keywords alone .933, .868 to .991; fitted without one of the sets, its pairs have .959 to .999.
 */
const WITH_COSINE = { relevance: 4.9, bestCosine: 14.6, known: 8.2, offset: -17.3 };
const KEYWORDS_ALONE = { relevance: 7.9, bestCosine: 0, known: 9.5, offset: -12.8 };

export function scoreOf(relevance: number, { known, bestCosine }: QueryFacts): number {
  const curve = bestCosine === null ? KEYWORDS_ALONE : WITH_COSINE;
  const logit = curve.relevance * relevance + curve.bestCosine * (bestCosine ?? 0) + curve.known * known + curve.offset;
  return 1 / (1 + Math.exp(-logit));
}

/** A word of another script is a name or a symbol; with a larger share of foreign letters the model would judge by what is left. */
const UNREADABLE_PART_MAX = 0.25;

export function votesOn(query: string, reads: (language: string) => boolean): boolean {
  let letters = 0;
  let unreadable = 0;
  for (const [script, count] of lettersByScript(query)) {
    letters += count;
    if (!reads(`und-${script}`)) unreadable += count;
  }
  return unreadable <= letters * UNREADABLE_PART_MAX;
}

/** A section that says no language is taken to be in one that the query's writer reads. */
export function votesIn(language: string | null, reads: (language: string) => boolean): boolean {
  return language === null || reads(language);
}
