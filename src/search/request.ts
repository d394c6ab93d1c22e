import type { SearchFacts, SearchRequest, SearchResult } from '../domain/search.ts';

export type { SearchFacts, SearchRequest, SearchResult } from '../domain/search.ts';

export interface ResultForm {
  readonly root: string;
  readonly version: string | null;
  /** Value of `metadata.source` in each result. Null omits the field. */
  readonly source: 'local' | null;
}

export const PLAIN_FORM: ResultForm = { root: '', version: null, source: null };

export const NO_FACTS: SearchFacts = {
  corrected: null,
  excluded: [],
  inclusive: null,
  facets: { languages: [], versions: [], tags: [] },
  semantic: false,
};

/** Response as JSON. The search thread writes it, and most responses contain its bytes unchanged. */
export interface SearchAnswer {
  readonly json: Uint8Array<ArrayBuffer>;
  readonly count: number;
  readonly isCorrected: boolean;
}

export interface Search {
  /**
   * The response contains `SearchFacts` only if the request sets `wantsFacts`.
   * @throws DocshelfError `index_building`, `search_off`, `queue_full`, `index_damaged`; the signal's reason if it aborts
   */
  search(request: SearchRequest, signal: AbortSignal): Promise<SearchAnswer>;
}

type ResponseBody = readonly SearchResult[] | ({ readonly results: readonly SearchResult[] } & SearchFacts);

/** @param facts facts to add to the results. Without facts, the JSON is only the list of results */
export function writeAnswer(results: readonly SearchResult[], facts?: SearchFacts): SearchAnswer {
  const body: ResponseBody = facts === undefined ? results : { results, ...facts };
  const isCorrected = facts !== undefined && facts.corrected !== null;
  return { json: new TextEncoder().encode(JSON.stringify(body)), count: results.length, isCorrected };
}

export function readAnswer({ json }: SearchAnswer): {
  readonly results: readonly SearchResult[];
  readonly facts?: SearchFacts;
} {
  const body = JSON.parse(new TextDecoder().decode(json)) as ResponseBody;
  if (!('results' in body)) return { results: body };
  const { results, ...facts } = body;
  return { results, facts };
}
