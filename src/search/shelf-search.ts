import { toDocshelfError } from '../domain/errors.ts';
import {
  readAnswer,
  type Search,
  type SearchAnswer,
  type SearchFacts,
  type SearchRequest,
  type SearchResult,
  writeAnswer,
} from './request.ts';

export interface SearchedSite {
  readonly site: string;
  readonly search: Search;
}

export type ShelfResult = SearchResult & { readonly site: string };

/** Searches all sites, except sites that fail or have no index. If all sites fail, throws the first error. */
export class ShelfSearch implements Search {
  readonly #sites: () => readonly SearchedSite[];

  constructor(sites: () => readonly SearchedSite[]) {
    this.#sites = sites;
  }

  async search(request: SearchRequest, signal: AbortSignal): Promise<SearchAnswer> {
    const sites = this.#sites();
    const answers = await Promise.allSettled(sites.map(({ search }) => search.search(request, signal)));
    signal.throwIfAborted();
    const lists = answers.flatMap((answer, at) =>
      answer.status === 'fulfilled' ? [{ site: sites[at]?.site ?? '', ...readAnswer(answer.value) }] : [],
    );
    const fault = answers.find((answer) => answer.status === 'rejected');
    if (lists.length === 0 && fault !== undefined) throw toDocshelfError(fault.reason);
    const facts = request.wantsFacts ? joinFacts(lists.flatMap((list) => list.facts ?? [])) : undefined;
    return writeAnswer(mergeByRank(lists, request.pageSize), facts);
  }
}

/**
 * Merges the `SearchFacts` of all sites. Omits filter values for versions and tags, because their meaning differs between sites.
 */
function joinFacts(facts: readonly SearchFacts[]): SearchFacts {
  return {
    corrected: facts.find(({ corrected }) => corrected !== null)?.corrected ?? null,
    excluded: [...new Set(facts.flatMap(({ excluded }) => excluded))],
    inclusive: facts.find(({ inclusive }) => inclusive !== null)?.inclusive ?? null,
    facets: { languages: [...new Set(facts.flatMap(({ facets }) => facets.languages))], versions: [], tags: [] },
    semantic: facts.some(({ semantic }) => semantic),
  };
}

/** Merges the best result of each site, then each second best, and so on. Sorts equal ranks by score, then by site order. */
function mergeByRank(
  lists: readonly { readonly site: string; readonly results: readonly SearchResult[] }[],
  resultsMax: number,
): ShelfResult[] {
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
