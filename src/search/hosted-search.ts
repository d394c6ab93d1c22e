import { DocshelfError } from '../domain/errors.ts';
import { linkWithoutSecrets, type Secret } from '../domain/secret.ts';
import { jsonOf, membersIn } from '../domain/shape.ts';
import type { HttpClient } from '../net/http-client.ts';
import type { SearchRequest, SearchResult } from './request.ts';

export interface HostedSearchOptions {
  readonly client: Pick<HttpClient, 'post'>;
  readonly settings: { readonly discoveryUrl: string; readonly domain: string; readonly key: Secret };
  readonly onFault: (error: DocshelfError) => void;
  readonly now?: () => number;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 2_000;
/** After five failures in a row, docshelf calls the service only once every 30 s, so that few readers wait for a failed service. */
const FAILURES_MAX = 5;
const PAUSE_MS = 30_000;
const ANSWER_BYTES_MAX = 4 * 1024 ** 2;

export class HostedSearch {
  readonly #options: HostedSearchOptions;
  readonly #url: string;
  readonly #now: () => number;
  #failures = 0;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: HostedSearchOptions) {
    const { settings, now = () => performance.now() } = options;
    this.#options = options;
    this.#url = `${settings.discoveryUrl.replace(/\/+$/, '')}/v1/search/${encodeURIComponent(settings.domain)}`;
    this.#now = now;
  }

  async search(request: SearchRequest, signal: AbortSignal): Promise<readonly SearchResult[] | null> {
    // Skip hosted search while a reader types: it cannot match prefixes, and each letter would count against its rate limit.
    if (request.prefixLast || this.#now() < this.#pausedUntilMs) return null;
    // After repeated failures, pause before this call: other readers then do not also wait for a service that probably still
    // fails.
    this.#pauseIfFailing();
    try {
      const results = await this.#ask(request, signal);
      this.#failures = 0;
      this.#pausedUntilMs = Number.NEGATIVE_INFINITY;
      return results;
    } catch (error) {
      signal.throwIfAborted();
      this.#failures += 1;
      this.#pauseIfFailing();
      this.#options.onFault(this.#faultOf(error));
      return null;
    }
  }

  #pauseIfFailing(): void {
    if (this.#failures >= FAILURES_MAX) this.#pausedUntilMs = this.#now() + PAUSE_MS;
  }

  async #ask(request: SearchRequest, signal: AbortSignal): Promise<readonly SearchResult[]> {
    const { client, settings, timeoutMs = TIMEOUT_MS } = this.#options;
    const response = await client.post(this.#url, bodyOf(request), {
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        authorization: `Bearer ${settings.key.reveal()}`,
      },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    if (response.status !== 200) {
      response.close();
      throw this.#failed(`it responds with ${response.status}`);
    }
    const text = await response.text(ANSWER_BYTES_MAX);
    const results = parseHostedResults(text, request.pageSize);
    if (results === null) throw this.#failed('its response is not a list of results');
    return results;
  }

  #faultOf(error: unknown): DocshelfError {
    if (error instanceof DocshelfError && OWN_FAULTS.has(error.code)) return error;
    const { timeoutMs = TIMEOUT_MS } = this.#options;
    const isTimeout = (error as { name?: unknown } | null)?.name === 'TimeoutError';
    return this.#failed(
      isTimeout ? `it did not respond within ${timeoutMs / 1000} s` : (error as Error).message,
      error,
    );
  }

  #failed(state: string, cause?: unknown): DocshelfError {
    return new DocshelfError('hosted_search_failed', `Cannot search at "${linkWithoutSecrets(this.#url)}": ${state}`, {
      next: 'Check features.search.discoveryUrl and its keyFile. Until the hosted search recovers, docshelf uses its own search.',
      cause,
    });
  }
}

const OWN_FAULTS: ReadonlySet<string> = new Set(['host_not_allowed', 'hosted_search_failed']);

function bodyOf({ query, pageSize, scoreThreshold, filter }: SearchRequest): string {
  const given = Object.entries(filter).filter(([, value]) => value !== null);
  const ofFilter = given.length === 0 ? {} : { filter: Object.fromEntries(given) };
  return JSON.stringify({ query, pageSize, ...(scoreThreshold === null ? {} : { scoreThreshold }), ...ofFilter });
}

/** Returns null for an invalid list of results. Requires only `content`, `path` and `score`, because services differ in the other keys. */
export function parseHostedResults(text: string, resultsMax: number): readonly SearchResult[] | null {
  const answer = jsonOf(text);
  if (!Array.isArray(answer)) return null;
  const results = answer.map(resultOf);
  if (results.includes(null)) return null;
  return (results as SearchResult[]).toSorted((a, b) => b.metadata.score - a.metadata.score).slice(0, resultsMax);
}

function resultOf(written: unknown): SearchResult | null {
  const { content, path, metadata } = membersIn(written);
  const { score, title, headings, version, language, tags, highlights, code } = membersIn(metadata);
  if (typeof content !== 'string' || typeof path !== 'string') return null;
  if (typeof score !== 'number' || !(score >= 0 && score <= 1)) return null;
  return {
    content,
    path,
    metadata: {
      score,
      title: textOrNull(title) ?? '',
      headings: textsOf(headings),
      version: textOrNull(version),
      language: textOrNull(language),
      tags: textsOf(tags),
      highlights: placesIn(highlights, content.length),
      ...(code !== undefined && { code: placesIn(code, content.length) }),
      source: 'hosted',
    },
  };
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function placesIn(value: unknown, contentLength: number): SearchResult['metadata']['highlights'] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((place: unknown) => {
    const { start, end } = membersIn(place);
    if (!Number.isInteger(start) || !Number.isInteger(end)) return [];
    const [from, to] = [start as number, end as number];
    return from >= 0 && from < to && to <= contentLength ? [{ start: from, end: to }] : [];
  });
}
