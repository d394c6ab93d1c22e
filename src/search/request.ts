import type { SearchFacts, SearchRequest, SearchResult } from '../domain/search.ts';

export type { SearchFacts, SearchRequest, SearchResult } from '../domain/search.ts';

/** How the search thread writes results for the readers of a site. */
export interface ResultForm {
  /** Precedes each path, without a last slash: the base path, and the address of a kept version. */
  readonly root: string;
  /** Version of the results whose pages name none. */
  readonly version: string | null;
  /** `metadata.source`. Null if no hosted search is configured. */
  readonly source: 'local' | null;
}

export const PLAIN_FORM: ResultForm = { root: '', version: null, source: null };

/** Facts of an engine that has none, such as a hosted search. */
export const NO_FACTS: SearchFacts = {
  corrected: null,
  facets: { languages: [], versions: [], tags: [] },
  semantic: false,
};

export interface SearchAnswer {
  readonly results: readonly SearchResult[];
  /** Present if the request wants them and the engine has them. */
  readonly facts?: SearchFacts | undefined;
  /** The whole response body in UTF-8, if the search thread has written it. */
  readonly json?: Uint8Array<ArrayBuffer>;
}

export interface Search {
  /**
   * @throws DocshelfError `index_building` (with `fields.retryAfterS`) before the first index exists, `search_off`,
   *   `queue_full`, `index_damaged`; the signal's reason
   */
  search(request: SearchRequest, signal: AbortSignal): Promise<SearchAnswer>;
}

/** The answer of a search thread. Most clients get its bytes; only a caller that needs the parts parses them. */
export class WrittenAnswer implements SearchAnswer {
  readonly json: Uint8Array<ArrayBuffer>;
  #parts: Omit<SearchAnswer, 'json'> | null = null;

  constructor(json: Uint8Array<ArrayBuffer>) {
    this.json = json;
  }

  get results(): readonly SearchResult[] {
    return this.#parsed.results;
  }

  get facts(): SearchFacts | undefined {
    return this.#parsed.facts;
  }

  get #parsed(): Omit<SearchAnswer, 'json'> {
    this.#parts ??= partsOf(JSON.parse(new TextDecoder().decode(this.json)) as ResponseBody);
    return this.#parts;
  }
}

/** The response body: a list, or with facts an object. */
export type ResponseBody = readonly SearchResult[] | ({ readonly results: readonly SearchResult[] } & SearchFacts);

function partsOf(body: ResponseBody): Omit<SearchAnswer, 'json'> {
  if (!('results' in body)) return { results: body };
  const { results, ...facts } = body;
  return { results, facts };
}

export function jsonOf(answer: SearchAnswer, wantsFacts = false): Uint8Array<ArrayBuffer> {
  if (answer.json !== undefined) return answer.json;
  const { results, facts = NO_FACTS } = answer;
  const body: ResponseBody = wantsFacts ? { results, ...facts } : results;
  return new TextEncoder().encode(JSON.stringify(body));
}
