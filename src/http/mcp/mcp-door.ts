import type { HttpBindings } from '@hono/node-server';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { DocshelfError, statusOf } from '../../domain/errors.ts';
import { COMMON_HEADERS } from '../../serve/index.ts';
import { ClientRates } from '../limits/client-rates.ts';
import { peerOf, remoteAddressBehind } from '../listener/remote-address.ts';
import { requestIdOf } from '../listener/request-id.ts';
import { answerFault, type FaultHooks, problemResponse } from '../problem.ts';
import { jsonText } from '../read-request.ts';
import { untilClientLeaves } from '../site/site-search.ts';
import type { Documentation } from './documentation.ts';
import { mcpServer } from './mcp-server.ts';
import { isOwnOrigin, type OriginPlace } from './own-origin.ts';

export interface McpDoorOptions extends FaultHooks {
  readonly site: Documentation;
  readonly place: () => OriginPlace;
  readonly trustedProxies: readonly string[];
  readonly programVersion: string;
  readonly clients?: ClientRates;
}

type AnswerAssistant = (request: Request, env: Partial<HttpBindings> | undefined) => Promise<Response>;

/** Protocol version 2025-03-26 alone has batches; each message of one counts as a request. */
const BATCH_MAX = 20;
/** A tool takes seconds at the most; a request that its own batch cancels is never answered. */
const ANSWER_MS_MAX = 60_000;

const HEADERS = { 'Cache-Control': 'no-store', ...COMMON_HEADERS, 'Cross-Origin-Resource-Policy': 'same-origin' };

/** What the connection is for, the listener says: HTTP/2 refuses it (RFC 9113, section 8.2.2). */
const OF_CONNECTION = ['connection', 'x-accel-buffering'];

/** The Model Context Protocol by streamable HTTP, without sessions: each request is answered whole, and forgotten. */
export function mcpDoor(options: McpDoorOptions): AnswerAssistant {
  const { site, place, trustedProxies, programVersion, metrics, onError } = options;
  const { clients = new ClientRates({ act: 'answer the assistant' }) } = options;
  const remoteAddress = remoteAddressBehind(trustedProxies);

  return async (request, env) => {
    const requestId = requestIdOf(env);
    const onFault = (error: DocshelfError): void => {
      metrics.onError(error.code);
      if (statusOf(error.code) >= 500) onError?.(error, requestId);
    };
    try {
      requireOwnOrigin(request, place());
      // Not counted: clients of older protocol versions ask once for a stream, as they should.
      if (request.method !== 'POST') return problemResponse(notAllowed(request.method), requestId);
      const peer = env?.incoming === undefined ? '' : peerOf(env.incoming);
      const client = remoteAddress(peer, request.headers.get('x-forwarded-for') ?? undefined);
      clients.take(client);
      const parsedBody = parsed(await jsonText(request, env));
      if (parsedBody === undefined) return protocolFault(-32700, 'Parse error: the body is malformed JSON');
      const messages = Array.isArray(parsedBody) ? parsedBody.length : 1;
      if (messages > BATCH_MAX)
        return protocolFault(-32600, `Invalid Request: a batch has at most ${BATCH_MAX} messages`);
      // What a batch cancels of itself is never answered, and the batch neither.
      if (Array.isArray(parsedBody) && parsedBody.some(isCancellation))
        return protocolFault(-32600, 'Invalid Request: a batch cannot cancel its own requests');
      for (let message = 1; message < messages; message++) clients.take(client);

      using left = untilClientLeaves(request, env);
      const late = new AbortController();
      using _ = inTime(late);
      const signal = AbortSignal.any([left.signal, late.signal]);
      const handler = createMcpHandler(() => mcpServer({ site, programVersion, onFault }), {
        onerror: () => undefined,
      });
      const { url, headers } = request;
      const answer = await handler.fetch(new Request(url, { method: 'POST', headers: withoutBody(headers), signal }), {
        parsedBody,
      });
      return await whole(answer, signal);
    } catch (cause) {
      return answerFault(cause, request, requestId, options);
    }
  };
}

const isCancellation = (message: unknown): boolean =>
  (message as { readonly method?: unknown } | null)?.method === 'notifications/cancelled';

function inTime(late: AbortController): Disposable {
  const fault = new DocshelfError('busy', `Cannot answer the assistant: it took longer than ${ANSWER_MS_MAX / 1000} s`);
  const timer = setTimeout(() => late.abort(fault), ANSWER_MS_MAX);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

function requireOwnOrigin(request: Request, place: OriginPlace): void {
  const origin = request.headers.get('origin');
  if (origin === null || isOwnOrigin(origin, new URL(request.url).host, place)) return;
  throw new DocshelfError('forbidden', 'Cannot answer: the request comes from a page of another site', {
    next: 'Send no Origin header, or name the address of this site in server.publicUrl.',
  });
}

function notAllowed(method: string): DocshelfError {
  const next = 'Assistants send each message with POST; there are no sessions and no streams to open.';
  return new DocshelfError('method_not_allowed', `Cannot answer ${method}: this address takes POST alone`, {
    next,
    fields: { allow: 'POST' },
  });
}

/** Undefined for what is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** As the package answers what it cannot read (JSON-RPC 2.0, section 5.1). */
function protocolFault(code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status: 400, headers: HEADERS });
}

function withoutBody(headers: Headers): Headers {
  const others = new Headers(headers);
  for (const name of ['content-length', 'transfer-encoding']) others.delete(name);
  return others;
}

/** Nothing is sent before it is done: a fault has its status, and a client that leaves ends the work. */
async function whole(answer: Response, signal: AbortSignal): Promise<Response> {
  const body = answer.body === null ? null : await answer.arrayBuffer();
  signal.throwIfAborted();
  const headers = new Headers(answer.headers);
  for (const name of OF_CONNECTION) headers.delete(name);
  for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value);
  headers.set('Content-Length', String(body?.byteLength ?? 0));
  return new Response(body, { status: answer.status, headers });
}
