import type { SearchResult } from '../request.ts';

/** The results of one site, best first. */
export interface SiteResults {
  readonly site: string;
  readonly results: readonly SearchResult[];
}

/** A result with the domain of the site whose page it is. */
export type ShelfResult = SearchResult & { readonly site: string };

/**
 * One list of several (contract, section 2.1): every site's best, then every site's second best, and so on. Those of one rank
 * stand by descending score, and where that is the same in the order of the sites.
 *
 * @param resultsMax the best of all that are kept
 */
export function mergeByRank(lists: readonly SiteResults[], resultsMax: number): ShelfResult[] {
  const ranks = Math.max(0, ...lists.map(({ results }) => results.length));
  const merged: ShelfResult[] = [];
  for (let rank = 0; rank < ranks && merged.length < resultsMax; rank += 1) {
    const ofRank = lists.flatMap(({ site, results }) => {
      const result = results[rank];
      return result === undefined ? [] : [{ site, ...result }];
    });
    merged.push(...ofRank.sort((left, right) => right.metadata.score - left.metadata.score));
  }
  return merged.slice(0, resultsMax);
}
