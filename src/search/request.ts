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

export interface SearchAnswer {
  readonly results: readonly SearchResult[];
  readonly facts?: SearchFacts | undefined;
  readonly json?: Uint8Array<ArrayBuffer>;
}

/** Searches the bytes of `json` instead of parsing them. This is safe, because JSON escapes quotes inside texts. */
export function outcomeOf(answer: SearchAnswer): { readonly isEmpty: boolean; readonly isCorrected: boolean } {
  const { json } = answer;
  if (json === undefined) {
    const { results, facts } = answer;
    return { isEmpty: results.length === 0, isCorrected: (facts?.corrected ?? null) !== null };
  }
  const written = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  const isEmpty = json.length === 2 || written.includes('"results":[]');
  return { isEmpty, isCorrected: written.includes('"corrected":"') };
}

export interface Search {
  /** @throws DocshelfError `index_building`, `search_off`, `queue_full`, `index_damaged`; the signal's reason if it aborts */
  search(request: SearchRequest, signal: AbortSignal): Promise<SearchAnswer>;
}

/** Response as JSON bytes. Parses the bytes only on demand, because most responses contain them unchanged. */
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
