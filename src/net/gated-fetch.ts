import type { HttpClient } from './http-client.ts';

/** Documents of identity providers: a key set has a few KiB. */
const BODY_BYTES_MAX = 1024 * 1024;

interface FetchOptions {
  readonly method?: string;
  readonly headers?: ConstructorParameters<typeof Headers>[0];
  readonly body?: unknown;
  readonly signal?: AbortSignal | null | undefined;
}

/**
 * `fetch` for libraries that bring their own requests: through the gate, GET and POST, redirects answered and not followed.
 * @throws as `HttpClient.get`
 */
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
