import { toDocshelfError } from '../domain/errors.ts';
import { mergeByRank, type ShelfResult } from './query/merge-by-rank.ts';
import type { Search, SearchAnswer, SearchRequest } from './request.ts';

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
    return { results: mergeByRank(lists, request.pageSize) };
  }
}
