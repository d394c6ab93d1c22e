import type { SearchFacts, SearchRequest, SearchResult } from '../domain/search.ts';

export type { SearchFacts, SearchRequest, SearchResult } from '../domain/search.ts';

export interface SearchAnswer {
  readonly results: readonly SearchResult[];
  /** `results` in UTF-8, where the engine's thread has made it; then `results` is parsed when asked for. */
  readonly json?: Uint8Array<ArrayBuffer>;
  /** Where they were asked for, and the engine has them. */
  readonly facts?: SearchFacts;
}

export function jsonOf(answer: SearchAnswer): Uint8Array<ArrayBuffer> {
  return answer.json ?? new TextEncoder().encode(JSON.stringify(answer.results));
}

export interface Search {
  /**
   * @throws DocshelfError `index_building` (with `fields.retryAfterS`) before the first index exists, `search_off`,
   *   `queue_full`, `index_damaged`; the signal's reason
   */
  search(request: SearchRequest, signal: AbortSignal): Promise<SearchAnswer>;
}
