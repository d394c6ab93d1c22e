import type { SearchRequest, SearchResult } from '../domain/search.ts';

export type { SearchRequest, SearchResult } from '../domain/search.ts';

export interface SearchAnswer {
  /** Read when it is asked for, where there is `json`. */
  readonly results: readonly SearchResult[];
  /** The array of `results` in UTF-8, where the engine's thread has made it. */
  readonly json?: Uint8Array<ArrayBuffer>;
}

export function jsonOf(answer: SearchAnswer): Uint8Array<ArrayBuffer> {
  return answer.json ?? new TextEncoder().encode(JSON.stringify(answer.results));
}

/** One site's search, whatever engine is behind it. */
export interface Search {
  /**
   * The best results by descending score.
   * @throws DocshelfError `index_building` (with `fields.retryAfterS`) before the first index exists, `search_off`,
   *   `queue_full`, `index_damaged`; the signal's reason
   */
  search(request: SearchRequest, signal: AbortSignal): Promise<SearchAnswer>;
}
