import type { HttpBindings } from '@hono/node-server';
import { OWN_HEADERS } from '../../domain/own-headers.ts';
import { PAGE_SIZE_DEFAULT, siteSearchSchema } from '../../domain/search.ts';
import {
  NO_FACTS,
  readAnswer,
  type Search,
  type SearchAnswer,
  type SearchRequest,
  writeAnswer,
} from '../../search/index.ts';
import { encodedBody, negotiateEncoding } from '../../site/encoding.ts';
import type { SiteRequest } from '../../site/index.ts';
import { prefersType } from '../../web/media-type.ts';
import { type PageLanguage, preferredLanguage } from '../../web/words/index.ts';
import { ClientRates } from '../limits/client-rates.ts';
import { peerOf, remoteAddressBehind, requestIdOf, siteRequest, untilClientLeaves } from '../listener/request.ts';
import { answerFault, type FaultHooks } from '../problem.ts';
import { queryReader } from '../read-request.ts';
import { pageAnswer } from './page-answer.ts';
import {
  QUERY_LENGTH_MAX,
  RESULTS_USUAL,
  type ResultsOutcome,
  resultsPage,
  type WrittenQuery,
} from './results-page.ts';
import type { SiteAssets } from './site-assets.ts';

interface ResultsPlace {
  readonly language: () => Promise<PageLanguage | null>;
  readonly assets: SiteAssets;
}

/** Sites of the shelf that readers of this site may search. */
export interface ShelfScope {
  search(): Search;
  sites(
    host: string | undefined,
  ): Promise<ReadonlyMap<string, { readonly domain: string; readonly title: string | null; readonly address: string }>>;
}

export interface SiteSearchSettings extends FaultHooks {
  readonly search: Search;
  readonly trustedProxies: readonly string[];
  readonly clients?: ClientRates;
  /** Shelf for searches with the scope `all`. Without a shelf, these searches cover only the site. */
  readonly shelf?: ShelfScope | null;
  /** Language and assets of the results page. If absent, all clients get JSON. */
  readonly page?: ResultsPlace;
}

export type AnswerSiteSearch = (request: Request, env: Partial<HttpBindings> | undefined) => Promise<Response>;

const PAGE_TYPE = 'text/html';
const JSON_TYPE = 'application/json';

const HEADERS = {
  'Content-Type': `${JSON_TYPE}; charset=utf-8`,
  // Do not cache the response, because after a swap its links could lead to pages that no longer exist.
  'Cache-Control': 'no-store',
  ...OWN_HEADERS,
  'Cross-Origin-Resource-Policy': 'same-origin',
};

const readQuery = queryReader({ act: 'search', query: siteSearchSchema });

/** Responds to navigations with a page, or else with the API's JSON. Needs no key, but browsers allow only the same origin. */
export function siteSearch(options: SiteSearchSettings): AnswerSiteSearch {
  const { search, shelf = null, page, trustedProxies, clients = new ClientRates() } = options;
  const remoteAddress = remoteAddressBehind(trustedProxies);

  return async (request, env) => {
    using client = untilClientLeaves(request, env);
    const parameters = new URL(request.url).searchParams;
    const accept = request.headers.get('accept');
    // True for navigations. False for scripts, which send the parameter `view`, or accept JSON as much as HTML.
    const wantsPage =
      accept !== null &&
      !parameters.has('view') &&
      prefersType(accept, PAGE_TYPE, JSON_TYPE) &&
      !prefersType(accept, JSON_TYPE, PAGE_TYPE);
    const results = page !== undefined && wantsPage ? new ResultsAnswer(page, parameters) : null;
    const asked = siteRequest(request, env);
    try {
      const peer = env?.incoming === undefined ? '' : peerOf(env.incoming);
      clients.take(remoteAddress(peer, request.headers.get('x-forwarded-for') ?? undefined));
      if (results?.isBlank) return await results.respond(asked, { kind: 'blank' });
      const { q, limit, version = null, language = null, tag = null, legs, scope, view } = readQuery(parameters);
      const isBox = view === 'box';
      const wanted: SearchRequest = {
        query: q,
        pageSize: limit ?? (results === null ? PAGE_SIZE_DEFAULT : RESULTS_USUAL),
        scoreThreshold: null,
        filter: { version, language, tag },
        prefixLast: true,
        isByWords: legs === 'words',
        wantsFacts: isBox || results !== null,
      };
      // Restrict a results page to its own site, because the links on the page are paths.
      const all = scope === 'all' && results === null ? shelf : null;
      const answer = await (all?.search() ?? search).search(wanted, client.signal);
      if (results !== null) {
        const { results: found, facts = NO_FACTS } = readAnswer(answer);
        return await results.respond(asked, { kind: 'found', results: found, facts, limit: wanted.pageSize });
      }
      const { json } = isBox && all !== null ? withSites(answer, await all.sites(asked.header('host'))) : answer;
      const { body, headers } = await encodedBody(json, negotiateEncoding(asked.header('accept-encoding')));
      return new Response(body, { headers: { ...HEADERS, Vary: 'Accept-Encoding', ...headers } });
    } catch (cause) {
      const problem = answerFault(cause, request, requestIdOf(env), options);
      if (results === null) return problem;
      const { status, headers } = problem;
      return results.respond(asked, { kind: 'failed', status }, headers.get('Retry-After'));
    }
  };
}

function withSites(answer: SearchAnswer, sites: ReadonlyMap<string, object>): SearchAnswer {
  const { results, facts } = readAnswer(answer);
  const siteOf = (result: (typeof results)[number]) =>
    'site' in result && typeof result.site === 'string' ? sites.get(result.site) : undefined;
  const named = results.map((result) => ({ ...result, site: siteOf(result) }));
  return writeAnswer(named, facts);
}

const PAGE_HEADERS = { 'Cache-Control': 'no-store', Vary: 'Accept, Accept-Encoding', 'X-Robots-Tag': 'noindex' };

class ResultsAnswer {
  readonly isBlank: boolean;
  readonly #place: ResultsPlace;
  readonly #written: WrittenQuery;

  constructor(place: ResultsPlace, parameters: URLSearchParams) {
    const written = (name: string) => (parameters.get(name) ?? '').trim().slice(0, QUERY_LENGTH_MAX).toWellFormed();
    this.#place = place;
    const [q, language, version, tag] = [written('q'), written('language'), written('version'), written('tag')];
    this.#written = { q, language, version, tag };
    this.isBlank = q === '';
  }

  async respond(request: SiteRequest, outcome: ResultsOutcome, retryAfter: string | null = null): Promise<Response> {
    const { assets } = this.#place;
    const known = await this.#place.language();
    const language = known ?? preferredLanguage(request.header('accept-language'));
    const html = resultsPage({ language, written: this.#written, outcome, assets: assets.page });
    const status = outcome.kind === 'failed' ? outcome.status : 200;
    const vary = known === null ? { Vary: `${PAGE_HEADERS.Vary}, Accept-Language` } : {};
    const retry = retryAfter === null ? {} : { 'Retry-After': retryAfter };
    return pageAnswer(request, { html, language, status, headers: { ...PAGE_HEADERS, ...vary, ...retry } });
  }
}
