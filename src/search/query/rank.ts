import type { ScoreReasons } from '../../domain/search.ts';
import type { Exact, KeywordHit } from '../keyword/keyword-index.ts';
import { Best } from '../keyword/ranking.ts';
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

export type RankParts = Omit<ScoreReasons, 'places' | 'prior'>;

/**
 * relevance = known · n^0.8 + 1.9 · cosine²: a near passage counts for much, a far one for hardly anything, so that words do not outvote the
 * model where sections are code, nor it them where it has found nothing. One setting for all sites; the neighbourhood is flat (.7 to .9, 1.7 to 2,
 * exponents 1.5 to 2: nDCG@10 of each of four sets stays within .005).
 */
const KEYWORD_EXPONENT = 0.8;
const COSINE_WEIGHT = 1.9;
/** A section that says all of a short query in its title, its headings and its text has 3.1 (four sets). */
const KEYWORDS_MAX = 3;
/** Each more than all that is below it can have: keywords and cosine give at most 4.4. */
const EXACT_LIFT: Readonly<Record<Exact, number>> = { title: 9, identifier: 4.5 };

/** Both legs in one order by absolute scores, so that one number is both the order and, by a monotone curve, the score. */
export function fuse({ hits, nearest, known }: Legs, limit: number): RankedSection[] {
  const best = new Best(limit);
  const found = new Set<number>();
  for (const hit of hits) {
    found.add(hit.section);
    const cosine = nearest?.get(hit.section)?.cosine ?? 0;
    best.offer(hit.section, keywordPart(hit.normalised, known) + cosinePart(cosine) + liftOf(hit.exact));
  }
  let bestCosine: number | null = null;
  for (const [section, { cosine }] of nearest ?? []) {
    bestCosine = Math.max(bestCosine ?? 0, cosine);
    if (!found.has(section)) best.offer(section, cosinePart(cosine));
  }
  const facts: QueryFacts = { known, bestCosine };
  return best.ranked().map(({ section, score: relevance }) => ({ section, score: scoreOf(relevance, facts) }));
}

/** What `fuse` has added up for a section. */
export function partsOf(section: number, { hits, nearest, known }: Legs): RankParts {
  const { normalised = 0, exact = null } = hits.find((hit) => hit.section === section) ?? {};
  const cosine = nearest?.get(section)?.cosine ?? null;
  const meaning = cosine === null ? null : cosinePart(cosine);
  return { words: keywordPart(normalised, known), meaning, lift: liftOf(exact), exact };
}

function liftOf(exact: Exact | null): number {
  return exact === null ? 0 : EXACT_LIFT[exact];
}

function cosinePart(cosine: number): number {
  return COSINE_WEIGHT * Math.min(1, Math.max(0, cosine)) ** 2;
}

/**
 * Keywords count by the share of the query that the site knows: an English question about Japanese pages meets a product's name on
 * every page and nothing else (mean reciprocal rank .51 -> .53 by a multilingual model, R@3 .56 -> .64; in one language no difference).
 */
function keywordPart(normalised: number, known: number): number {
  return known * Math.min(KEYWORDS_MAX, normalised) ** KEYWORD_EXPONENT;
}

interface QueryFacts {
  readonly known: number;
  readonly bestCosine: number | null;
}

/**
 * Logistic from relevance to score, fitted to tell the best result of a query that a site answers from that of one that
 * it does not (four development sets, the queries of each against the documents of all; the twelve pairs weigh the
 * same). The query's own facts move the curve and never the order. Mean area under it: .970, .950 to 1.000 for
 * each, but .913 and .932 between the two sets of code; by keywords alone .924, .790 to .991.
 */
const WITH_COSINE = { relevance: 2.45, bestCosine: 12.66, known: 5.66, offset: -13.18 };
const KEYWORDS_ALONE = { relevance: 3.35, bestCosine: 0, known: 9.15, offset: -10.65 };

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
