import { Best } from '../keyword/best.ts';
import type { Exact } from '../keyword/keyword-index.ts';
import { type QueryFacts, scoreOf } from './score.ts';

/** What the two legs know of the sections that either of them found. */
export interface Legs {
  /** The keyword leg's score of a section by the rarity of all that was looked for, 0 and up. */
  readonly normalised: ReadonlyMap<number, number>;
  /**
   * The cosine (on the common scale) of the query and a section's best passage, for every section that the model may vote on,
   * whichever leg found it; null where the model has no vote at all.
   */
  readonly cosines: ReadonlyMap<number, number> | null;
  /** Which part of the query's words the site knows, 0 to 1. */
  readonly known: number;
  /** Sections that are just what was asked for: their page's title is the query, or it is a name that they have. They come first. */
  readonly exact?: ReadonlyMap<number, Exact>;
}

export interface Ranked {
  readonly section: number;
  /** 0 to 1, comparable between queries; the order of results is by this alone. */
  readonly score: number;
}

/**
 * The keyword leg's scores have no upper end: at this one they count half. And what the cosine adds, beside the keywords'
 * 0 to 1. One setting for all sites; the neighbourhood is flat (.30 to .60, .35 to .60: the mean nDCG@10 of three sets
 * stays within .004).
 */
const SATURATION = 0.4;
const COSINE_WEIGHT = 0.4;
/** Each more than all that is below it can have: keywords and cosine give at most 1.4. */
const EXACT_LIFT: Readonly<Record<Exact, number>> = { title: 3, identifier: 1.5 };

/**
 * Both legs in one order, best first; of equals, the section that stands first in the site.
 * At most `limit` of them.
 *
 * Convex, of absolute scores: neither leg is divided by its best result, so that one number is both the order and, by a
 * monotone curve, the score.
 */
export function fuse(legs: Legs, limit: number): Ranked[] {
  const { normalised, cosines, known, exact } = legs;
  // A model that may judge none of the sections has no vote either.
  const bestCosine = cosines === null || cosines.size === 0 ? null : Math.max(0, ...cosines.values());
  const facts: QueryFacts = { known, bestCosine };
  const sections = new Set([...normalised.keys(), ...(cosines?.keys() ?? [])]);
  const best = new Best(limit);
  for (const section of sections) {
    const lift = exact?.get(section);
    const relevance =
      keywordPart(normalised.get(section) ?? 0, known) +
      COSINE_WEIGHT * Math.min(1, Math.max(0, cosines?.get(section) ?? 0)) +
      (lift === undefined ? 0 : EXACT_LIFT[lift]);
    best.offer(section, relevance);
  }
  return best.ranked().map(({ section, score: relevance }) => ({ section, score: scoreOf(relevance, facts) }));
}

/**
 * Keywords count by the part of the query that the site knows at all: an English question about Japanese pages meets a
 * product's name on every other page and nothing else (mean reciprocal rank .51 -> .53 by a multilingual model, R@3 .56 -> .64;
 * within one language no difference).
 */
function keywordPart(normalised: number, known: number): number {
  return (known * normalised) / (normalised + SATURATION);
}
