import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { hostName } from '../../domain/deployment.ts';
import { bareHost } from '../../domain/egress.ts';
import { DocshelfError, statusOf } from '../../domain/errors.ts';
import { OWN_HEADERS } from '../../domain/own-headers.ts';
import { jsonOf } from '../../domain/shape.ts';
import { acceptsType, prefersType } from '../../web/media-type.ts';
import { ClientRates } from '../limits/client-rates.ts';
import { peerOf, remoteAddressBehind, requestIdOf, untilClientLeaves } from '../listener/request.ts';
import { answerFault, type FaultHooks, problemResponse } from '../problem.ts';
import { jsonText } from '../read-request.ts';
import type { AnswerSiteSearch } from '../site/site-search.ts';
import type { Documentation } from './documentation.ts';
import { mcpServer } from './mcp-server.ts';

export interface McpEndpointOptions extends FaultHooks {
  readonly site: () => Documentation;
  readonly place: OriginPlace;
  readonly trustedProxies: readonly string[];
  readonly programVersion: string;
  readonly clients?: ClientRates;
}

/** Maximum messages of a batch. Only protocol version 2025-03-26 has batches. Each message counts as a request for the rate limit. */
const BATCH_MAX = 20;
/** Time limit of a response. Tools need only seconds, so the limit ends only requests that would never get a response. */
const ANSWER_MS_MAX = 60_000;

const HEADERS = { 'Cache-Control': 'no-store', ...OWN_HEADERS, 'Cross-Origin-Resource-Policy': 'same-origin' };

const JSON_TYPE = 'application/json';
const STREAM_TYPE = 'text/event-stream';

/** Response headers to remove. HTTP/2 forbids `connection` (RFC 9113, section 8.2.2), and `x-accel-buffering` is for streams. */
const OF_CONNECTION = ['connection', 'x-accel-buffering'];

/** Serves the Model Context Protocol over streamable HTTP. There are no sessions, so each request gets one complete response. */
export function mcpEndpoint(options: McpEndpointOptions): AnswerSiteSearch {
  const { site, place, trustedProxies, programVersion, metrics, onError } = options;
  const { clients = new ClientRates({ act: 'respond to the assistant' }) } = options;
  const remoteAddress = remoteAddressBehind(trustedProxies);

  return async (request, env) => {
    const requestId = requestIdOf(env);
    const onFault = (error: DocshelfError): void => {
      metrics.onError(error.code);
      if (statusOf(error.code) >= 500) onError?.(error, requestId);
    };
    try {
      requireOwnOrigin(request, place);
      // Reject GET without counting it for the rate limit, because older clients try once to open a stream with GET.
      if (request.method !== 'POST') return problemResponse(notAllowed(request.method), requestId);
      const peer = env?.incoming === undefined ? '' : peerOf(env.incoming);
      const client = remoteAddress(peer, request.headers.get('x-forwarded-for') ?? undefined);
      clients.take(client);
      const parsedBody = jsonOf(await jsonText(request, env));
      const form = formOf(request.headers.get('accept'));
      if (form === null)
        return protocolFault(-32000, `Not Acceptable: accept ${JSON_TYPE}, ${STREAM_TYPE}, or both`, 406);
      if (parsedBody === undefined) return protocolFault(-32700, 'Parse error: the body is malformed JSON');
      const messages = Array.isArray(parsedBody) ? parsedBody.length : 1;
      if (messages > BATCH_MAX)
        return protocolFault(-32600, `Invalid Request: a batch has at most ${BATCH_MAX} messages`);
      // Reject a batch with a cancellation, because a request canceled by its own batch would never get a response.
      if (Array.isArray(parsedBody) && parsedBody.some(isCancellation))
        return protocolFault(-32600, 'Invalid Request: a batch cannot cancel its own requests');
      for (let message = 1; message < messages; message++) clients.take(client);

      using left = untilClientLeaves(request, env);
      const late = new AbortController();
      using _ = inTime(late);
      const signal = AbortSignal.any([left.signal, late.signal]);
      const handler = createMcpHandler(() => mcpServer({ site: site(), programVersion, onFault }), {
        onerror: () => undefined,
        ...(form === 'stream' ? { responseMode: 'sse' } : {}),
      });
      const { url, headers } = request;
      const answer = await handler.fetch(new Request(url, { method: 'POST', headers: forHandler(headers), signal }), {
        parsedBody,
      });
      return await whole(answer, { signal, isJson: form === 'json', isBatch: Array.isArray(parsedBody) });
    } catch (cause) {
      return answerFault(cause, request, requestId, options);
    }
  };
}

/** Selects the response format by Accept. With `either`, the MCP package chooses. Null if the client accepts neither format. */
function formOf(accept: string | null): 'json' | 'stream' | 'either' | null {
  if (!acceptsType(accept, JSON_TYPE)) return acceptsType(accept, STREAM_TYPE) ? 'stream' : null;
  return prefersType(accept ?? '', STREAM_TYPE, JSON_TYPE) ? 'either' : 'json';
}

const isCancellation = (message: unknown): boolean =>
  (message as { readonly method?: unknown } | null)?.method === 'notifications/cancelled';

function inTime(late: AbortController): Disposable {
  const fault = new DocshelfError(
    'busy',
    `Cannot respond to the assistant: the call took longer than ${ANSWER_MS_MAX / 1000} s`,
  );
  const timer = setTimeout(() => late.abort(fault), ANSWER_MS_MAX);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

function requireOwnOrigin(request: Request, place: OriginPlace): void {
  const origin = request.headers.get('origin');
  if (origin === null || isOwnOrigin(origin, new URL(request.url).host, place)) return;
  throw new DocshelfError('forbidden', 'Cannot accept the request: it comes from a page of another site', {
    next: 'If the page belongs to this site, set server.publicUrl to the address of the site. Otherwise, send no Origin header.',
  });
}

interface OriginPlace {
  readonly publicUrl: string | null;
  readonly hosts: readonly string[];
}

/**
 * True if docshelf itself has this origin. Do not trust Host: with DNS rebinding, a malicious page sends its own name as Host and
 * Origin.
 */
export function isOwnOrigin(origin: string, host: string | undefined, { publicUrl, hosts }: OriginPlace): boolean {
  const url = URL.parse(origin);
  if (url === null || url.origin !== origin || !/^https?:$/.test(url.protocol)) return false;
  const names = hosts.map(hostName);
  if (publicUrl !== null) {
    const own = new URL(publicUrl);
    const ours = names.length === 0 ? [own.hostname] : names;
    if (url.protocol === own.protocol && url.port === own.port && ours.includes(url.hostname)) return true;
  }
  // Compare Origin with Host, but ignore the scheme, because a proxy can terminate TLS.
  if (URL.parse(`${url.protocol}//${host ?? ''}`)?.host !== url.host) return false;
  const name = hostName(url.host);
  const isOfThisMachine = isIP(bareHost(name)) !== 0 || name === 'localhost' || name === hostname().toLowerCase();
  return isOfThisMachine || names.includes(name);
}

function notAllowed(method: string): DocshelfError {
  const next = 'Send each message with POST. This endpoint has no sessions and no streams.';
  return new DocshelfError('method_not_allowed', `Cannot process ${method}: this address accepts only POST`, {
    next,
    fields: { allow: 'POST' },
  });
}

/** Same object as the MCP package returns for a request that it cannot read (JSON-RPC 2.0, section 5.1). */
function protocolFault(code: number, message: string, status = 400): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers: HEADERS });
}

function forHandler(headers: Headers): Headers {
  const others = new Headers(headers);
  for (const name of ['content-length', 'transfer-encoding']) others.delete(name);
  others.set('Accept', `${JSON_TYPE}, ${STREAM_TYPE}`);
  return others;
}

/** Reads the whole body before the response starts, so that an error can set the status, and a disconnect aborts the work. */
async function whole(
  answer: Response,
  { signal, isJson, isBatch }: { readonly signal: AbortSignal; readonly isJson: boolean; readonly isBatch: boolean },
): Promise<Response> {
  const text = answer.body === null ? null : await answer.text();
  signal.throwIfAborted();
  const headers = new Headers(answer.headers);
  for (const name of OF_CONNECTION) headers.delete(name);
  for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value);
  const isStream = headers.get('Content-Type')?.startsWith(STREAM_TYPE) === true;
  const isConverted = isJson && isStream && text !== null;
  if (isConverted) headers.set('Content-Type', JSON_TYPE);
  const body = text === null ? null : Buffer.from(isConverted ? responsesIn(text, isBatch) : text);
  headers.set('Content-Length', String(body?.byteLength ?? 0));
  return new Response(body, { status: answer.status, headers });
}

/** Extracts the responses from a stream of events. Omits notifications, because the requests that they are about have ended. */
function responsesIn(events: string, isBatch: boolean): string {
  const responses = events
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => line.slice('data: '.length))
    .filter((data) => !('method' in JSON.parse(data)));
  return isBatch ? `[${responses.join()}]` : (responses[0] ?? '');
}
