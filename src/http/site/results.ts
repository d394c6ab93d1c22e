import type { SearchFacts, SearchResult } from '../../search/index.ts';
import type { SiteRequest } from '../../serve/index.ts';
import { type PageLanguage, preferredLanguage } from '../../web/words/index.ts';
import { pageAnswer } from './page-answer.ts';
import {
  QUERY_LENGTH_MAX,
  RESULTS_USUAL,
  type ResultsOutcome,
  resultsPage,
  type WrittenQuery,
} from './results-page.ts';
import type { SiteAssets } from './site-assets.ts';

/** Where a page of results is shown. */
export interface ResultsPlace {
  /** Of the site as it is served; null: nothing is. */
  readonly language: () => Promise<PageLanguage | null>;
  readonly assets: SiteAssets;
}

const HEADERS = {
  // After a swap a cached answer would lead to pages that are gone.
  'Cache-Control': 'no-store',
  Vary: 'Accept, Accept-Encoding',
  'X-Robots-Tag': 'noindex',
};

/** `/_docshelf/search` for a reader: what is found, or why nothing is, as a page (contract, section 9). */
export class ResultsAnswer {
  /** Results at the most where the address says nothing. */
  readonly limit = RESULTS_USUAL;
  readonly #place: ResultsPlace;
  readonly #written: WrittenQuery;

  constructor(place: ResultsPlace, parameters: URLSearchParams) {
    const written = (name: string): string =>
      (parameters.get(name) ?? '').trim().slice(0, QUERY_LENGTH_MAX).toWellFormed();
    this.#place = place;
    this.#written = {
      q: written('q'),
      language: written('language'),
      version: written('version'),
      tag: written('tag'),
    };
  }

  /** Nothing is asked for: the form alone. */
  get isBlank(): boolean {
    return this.#written.q === '';
  }

  blank(request: SiteRequest): Promise<Response> {
    return this.#answer(request, { kind: 'blank' });
  }

  found(request: SiteRequest, results: readonly SearchResult[], facts: SearchFacts, limit: number): Promise<Response> {
    return this.#answer(request, { kind: 'found', results, facts, limit });
  }

  /** @param problem as others get it */
  failed(request: SiteRequest, { status, headers }: Response): Promise<Response> {
    const retryAfter = headers.get('Retry-After');
    return this.#answer(request, { kind: 'failed', status }, retryAfter === null ? {} : { 'Retry-After': retryAfter });
  }

  async #answer(request: SiteRequest, outcome: ResultsOutcome, more: Record<string, string> = {}): Promise<Response> {
    const { assets } = this.#place;
    const known = await this.#place.language();
    const language = known ?? preferredLanguage(request.header('accept-language'));
    const html = resultsPage({ language, written: this.#written, outcome, assets: assets.page });
    const status = outcome.kind === 'failed' ? outcome.status : 200;
    const vary = known === null ? { Vary: `${HEADERS.Vary}, Accept-Language` } : {};
    return pageAnswer(request, { html, language, status, headers: { ...HEADERS, ...vary, ...more } });
  }
}
