import type { HttpBindings } from '@hono/node-server';
import { searchRequestOf, siteSearchSchema } from '../../domain/search.ts';
import { jsonOf, type Search, type SearchAnswer, type SearchFacts } from '../../search/index.ts';
import { COMMON_HEADERS } from '../../serve/index.ts';
import { ClientRates } from '../limits/client-rates.ts';
import { peerOf, remoteAddressBehind } from '../listener/remote-address.ts';
import { requestIdOf } from '../listener/request-id.ts';
import { answerFault, clientLeft, type FaultHooks } from '../problem.ts';
import { queryReader } from '../read-request.ts';

export interface SiteSearchSettings extends FaultHooks {
  readonly search: Search;
  readonly trustedProxies: readonly string[];
  readonly clients?: ClientRates;
}

export type AnswerSiteSearch = (request: Request, env: Partial<HttpBindings> | undefined) => Promise<Response>;

const HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  // After a swap a cached answer would lead to pages that are gone.
  'Cache-Control': 'no-store',
  ...COMMON_HEADERS,
  // Keeps other origins from loading it.
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** Search as you type: same origin, no key, a bounded rate for each client. Answers as the API. */
export function siteSearch(options: SiteSearchSettings): AnswerSiteSearch {
  const { search, trustedProxies, clients = new ClientRates() } = options;
  const remoteAddress = remoteAddressBehind(trustedProxies);
  const readQuery = queryReader({ act: 'search', query: siteSearchSchema });

  return async (request, env) => {
    using client = untilClientLeaves(request, env);
    try {
      const peer = env?.incoming === undefined ? '' : peerOf(env.incoming);
      clients.take(remoteAddress(peer, request.headers.get('x-forwarded-for') ?? undefined));
      const { q, limit, language, version, tag, legs, view } = readQuery(new URL(request.url).searchParams);
      const filter = { ...(language && { language }), ...(version && { version }), ...(tag && { tag }) };
      const wanted = searchRequestOf({ query: q, ...(limit && { pageSize: limit }), filter }, true);
      const isBox = view === 'box';
      const more = { ...(legs === 'words' && { isByWords: true }), ...(isBox && { wantsFacts: true }) };
      const answer = await search.search({ ...wanted, ...more }, client.signal);
      const body = isBox ? boxJson(answer) : jsonOf(answer);
      return new Response(body, { headers: { ...HEADERS, 'Content-Length': String(body.byteLength) } });
    } catch (cause) {
      return answerFault(cause, request, requestIdOf(env), options);
    }
  };
}

/** A hosted search, and one over several sites, say nothing of what there is to choose from. */
const NO_FACTS: SearchFacts = { corrected: null, facets: { languages: [], versions: [], tags: [] }, semantic: false };

function boxJson({ results, facts = NO_FACTS }: SearchAnswer): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify({ results, ...facts }));
}

/** A browser that gives a question up ends its half of the connection first, which answers from files outlive. */
export function untilClientLeaves(
  request: Request,
  env: Partial<HttpBindings> | undefined,
): Disposable & { readonly signal: AbortSignal } {
  const left = new AbortController();
  const onEnd = (): void => left.abort(clientLeft('search'));
  env?.incoming?.socket.once('end', onEnd);
  return {
    signal: AbortSignal.any([request.signal, left.signal]),
    [Symbol.dispose]: () => void env?.incoming?.socket.off('end', onEnd),
  };
}
