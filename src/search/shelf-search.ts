import { toDocshelfError } from '../domain/errors.ts';
import { mergeByRank, type ShelfResult } from './query/merge-by-rank.ts';
import type { Search, SearchAnswer, SearchFacts, SearchRequest } from './request.ts';

export interface SearchedSite {
  readonly site: string;
  readonly search: Search;
}

interface ShelfAnswer extends SearchAnswer {
  readonly results: readonly ShelfResult[];
}

/** One search over several sites, merged by rank. A site that has no index yet, or a fault, is left out. */
export class ShelfSearch implements Search {
  readonly #sites: () => readonly SearchedSite[];

  /** @param sites those that the reader may search, as they are now */
  constructor(sites: () => readonly SearchedSite[]) {
    this.#sites = sites;
  }

  /** @throws the fault of the first site, where none answers; the signal's reason */
  async search(request: SearchRequest, signal: AbortSignal): Promise<ShelfAnswer> {
    const sites = this.#sites();
    const answers = await Promise.allSettled(sites.map(({ search }) => search.search(request, signal)));
    signal.throwIfAborted();
    const lists = answers.flatMap((answer, at) =>
      answer.status === 'fulfilled' ? [{ site: sites[at]?.site ?? '', results: answer.value.results }] : [],
    );
    const fault = answers.find((answer) => answer.status === 'rejected');
    if (lists.length === 0 && fault !== undefined) throw toDocshelfError(fault.reason);
    const facts = answers.flatMap((answer) => (answer.status === 'fulfilled' ? (answer.value.facts ?? []) : []));
    return { results: mergeByRank(lists, request.pageSize), ...(request.wantsFacts && { facts: joinFacts(facts) }) };
  }
}

/** Of versions and tags there is no choice: the same word means another thing in each site. */
function joinFacts(facts: readonly SearchFacts[]): SearchFacts {
  return {
    corrected: facts.find(({ corrected }) => corrected !== null)?.corrected ?? null,
    facets: { languages: [...new Set(facts.flatMap(({ facets }) => facets.languages))], versions: [], tags: [] },
    semantic: facts.some(({ semantic }) => semantic),
  };
}
