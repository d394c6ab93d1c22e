import type { Dispatcher } from 'undici';
import { DocshelfError } from '../domain/errors.ts';
import { linkWithoutSecrets, Secret } from '../domain/secret.ts';
import { decodeOrKeep } from '../domain/text.ts';
import { unlessAborted } from '../files/lanes.ts';
import { admitBehindProxy, createDispatcher } from './dispatcher.ts';
import type { EgressPolicy } from './egress.ts';
import { type Exchange, HttpResponse, type RequestFacts, requestFault } from './http-response.ts';

export interface HttpClientBounds {
  /** Time limit from the call to the last byte of the body, including redirects. */
  readonly totalTimeoutMs: number;
  readonly redirectsMax: number;
}

interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** `follow` requests the target of a redirect, `answer` returns the redirect to the caller. Default of `get`: `follow`. */
  readonly redirects?: 'follow' | 'answer';
}

type Message = Pick<Dispatcher.RequestOptions, 'method' | 'body'>;

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export class HttpClient {
  readonly #policy: EgressPolicy;
  readonly #bounds: HttpClientBounds;
  readonly #dispatcher: Dispatcher;

  constructor(policy: EgressPolicy, bounds: HttpClientBounds) {
    this.#policy = policy;
    this.#bounds = bounds;
    this.#dispatcher = createDispatcher(policy);
  }

  /**
   * Sends credentials only with the first request, not after a redirect.
   * @throws DocshelfError `source_*`, `too_many_redirects`, `host_not_allowed`, `address_not_allowed`
   */
  get(link: Secret | string, options: RequestOptions): Promise<HttpResponse> {
    return this.#request(link, { method: 'GET', body: null }, options);
  }

  /** Does not follow redirects, because the body must not go to another address. @throws errors of `get` */
  post(link: Secret | string, body: string, options: RequestOptions): Promise<HttpResponse> {
    return this.#request(link, { method: 'POST', body }, { ...options, redirects: 'answer' });
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  async #request(link: Secret | string, message: Message, options: RequestOptions): Promise<HttpResponse> {
    const first = typeof link === 'string' ? link : link.reveal();
    const exchange = this.#beginExchange(first, options.signal);
    try {
      return await this.#follow(first, message, options, exchange);
    } catch (error) {
      exchange.end();
      throw error;
    }
  }

  async #follow(first: string, message: Message, options: RequestOptions, exchange: Exchange): Promise<HttpResponse> {
    let url = this.#checkTarget(first, null);
    const { authorization, ...others } = { ...credentialsOf(url), ...options.headers };
    for (let redirects = 0; ; redirects += 1) {
      const facts = this.#factsOf(first, url);
      const sent = redirects === 0 && authorization !== undefined ? { ...others, authorization } : others;
      const answer = await this.#send(url, { ...message, headers: sent }, facts, exchange.signal);
      const response = new HttpResponse(answer, new Secret(url.href), facts, exchange);
      if (!REDIRECTS.has(response.status) || options.redirects === 'answer') return response;
      const location = response.header('location');
      answer.body.destroy();
      if (redirects === this.#bounds.redirectsMax) {
        throw new DocshelfError(
          'too_many_redirects',
          `Cannot fetch ${facts.thing}: more than ${redirects} redirects in a row`,
          {
            next: 'Use the final address, which does not redirect.',
            fields: { redirects, retryable: false },
          },
        );
      }
      if (location === null || !URL.canParse(location, url.href))
        throw badRedirect(facts.thing, `it returned a redirect (${response.status}) without a valid Location header`);
      url = this.#checkTarget(new URL(location, url).href, url);
    }
  }

  async #send(
    url: URL,
    message: Message & { readonly headers: Readonly<Record<string, string>> },
    facts: RequestFacts,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    try {
      await unlessAborted(admitBehindProxy(this.#policy, url), signal);
      const answered = this.#dispatcher.request({
        ...message,
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        // Accept no content coding, because it would change the length and the digest of the body.
        headers: { 'user-agent': 'docshelf', ...message.headers, 'accept-encoding': 'identity' },
        signal,
      });
      // Check the signal here too, because undici ignores the signal until the connection is open.
      return await unlessAborted(answered, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw requestFault(error, facts);
    }
  }

  #checkTarget(link: string, from: URL | null): URL {
    const thing = `"${linkWithoutSecrets(from?.href ?? link)}"`;
    const url = URL.parse(link);
    const shown = linkWithoutSecrets(link);
    if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
      if (from !== null) throw badRedirect(thing, `it redirects to "${shown}", which is not http(s)`);
      throw new DocshelfError('source_failed', `Cannot fetch ${thing}: it is not an http(s) link`, {
        fields: { retryable: false },
      });
    }
    if (from?.protocol === 'https:' && url.protocol === 'http:')
      throw badRedirect(thing, `it redirects from https to "${shown}", which is not encrypted`);
    this.#policy.admit(url, from !== null);
    return url;
  }

  #beginExchange(link: string, signal: AbortSignal): Exchange {
    const { totalTimeoutMs } = this.#bounds;
    const late = new AbortController();
    const timer = setTimeout(() => {
      const state = `the transfer took longer than ${totalTimeoutMs / 1000} s`;
      const timeout = new DocshelfError('source_timeout', `Cannot fetch "${linkWithoutSecrets(link)}": ${state}`, {
        next: 'Try again when the network is faster. If the server supports range requests, docshelf resumes the download.',
        fields: { retryable: true },
      });
      late.abort(timeout);
    }, totalTimeoutMs);
    return { signal: AbortSignal.any([signal, late.signal]), end: () => clearTimeout(timer) };
  }

  #factsOf(first: string, url: URL): RequestFacts {
    const asked = linkWithoutSecrets(first);
    const now = linkWithoutSecrets(url.href);
    const { connectTimeoutMs, idleTimeoutMs } = this.#policy.rules;
    return {
      thing: asked === now ? `"${asked}"` : `"${asked}" (redirected to "${now}")`,
      connectTimeoutMs,
      idleTimeoutMs,
    };
  }
}

function badRedirect(thing: string, state: string): DocshelfError {
  return new DocshelfError('source_failed', `Cannot fetch ${thing}: ${state}`, {
    next: 'Use the direct link of the bundle.',
    fields: { retryable: false },
  });
}

function credentialsOf(url: URL): { authorization?: string } {
  if (url.username === '' && url.password === '') return {};
  const pair = `${decodeOrKeep(url.username)}:${decodeOrKeep(url.password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** Maximum bytes of a response to `gatedFetch`. A typical response, the key set of an identity provider, has a few KiB. */
const BODY_BYTES_MAX = 1024 * 1024;

interface FetchOptions {
  readonly method?: string;
  readonly headers?: ConstructorParameters<typeof Headers>[0];
  readonly body?: unknown;
  readonly signal?: AbortSignal | null | undefined;
}

/** A `fetch` for libraries that applies the egress policy. Supports GET and POST, without redirects. @throws errors of `HttpClient` */
export function gatedFetch(
  client: () => Promise<HttpClient>,
): (url: string | URL, options?: FetchOptions) => Promise<Response> {
  return async (url, { method = 'GET', headers = {}, body, signal }: FetchOptions = {}) => {
    const http = await client();
    const options = {
      headers: Object.fromEntries(new Headers(headers)),
      signal: signal ?? new AbortController().signal,
      redirects: 'answer',
    } as const;
    const link = String(url);
    const response =
      method === 'POST' ? await http.post(link, String(body ?? ''), options) : await http.get(link, options);
    const text = await response.text(BODY_BYTES_MAX);
    const type = response.header('content-type');
    return new Response(text === '' ? null : text, {
      status: response.status,
      headers: type === null ? {} : { 'Content-Type': type },
    });
  };
}
