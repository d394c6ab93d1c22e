import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server';
import { DocshelfError, errnoState, rethrowAs, toDocshelfError } from '../../domain/errors.ts';
import { type FastAnswer, LargeResponse } from '../../site/index.ts';
import { problemResponse } from '../problem.ts';
import type { Http2Options } from '../tls/http2-endpoint.ts';
import { TlsPort, type TlsSettings } from '../tls/tls-port.ts';
import { ClientBudget, type HeldAnswer } from './client-budget.ts';
import { Connections } from './connections.ts';
import { FileSender } from './file-sender.ts';
import {
  answerConnect,
  answerMalformed,
  answerPlainHttp,
  BAD_ADDRESS,
  HEADER_BYTES_MAX,
  normalizeAddress,
  refusalOf,
  refuse,
  setHostOfHttp2,
  TARGET_LENGTH_MAX,
} from './refused-request.ts';
import { isHttp2, peerOf, REQUEST_ID_HEADER, requestIdFor, requestIdOf } from './request.ts';
import { LISTENERS, type ListenerName, RequestMeter, type ServedRequest } from './served-request.ts';

export type ListenerOptions = ListenerHandlers & ListenAddress;

interface ListenerHandlers {
  readonly name: ListenerName;
  readonly fetch: (request: Request, env: HttpBindings) => Response | Promise<Response>;
  /** Called first for GET requests without a body. If this function returns null, `fetch` responds. */
  readonly fastAnswer?: (incoming: IncomingMessage) => FastAnswer | null;
  readonly onRequest?: (served: ServedRequest) => void;
  readonly onFault?: (error: DocshelfError, requestId: string | null) => void;
  /** Config key of the port, for error messages. Default: `port` in the section of the listener. */
  readonly portKey?: string;
  readonly tls?: TlsSettings | undefined;
  /** Budget for connections and responses, to share among several ports. Default: a separate budget for each port. */
  readonly budget?: ClientBudget;
  readonly times?: Partial<typeof TIMES>;
}

export type ListenAddress = { readonly host: string; readonly port: number } | { readonly socket: string };

export interface Listener {
  readonly url: string;
  readonly port: number;
  readonly address: string;
  /** Applies the certificates to new connections. After an error, the former certificates stay. @throws Error of OpenSSL */
  useTls(settings: TlsSettings): void;
  isCertifiedFor(host: string): boolean;
  stop(deadlineMs: number): Promise<void>;
}

/**
 * Time without progress after which docshelf disconnects a client. The kernel reports progress only in steps of up to 1.4 MB. A slow
 * client (5 KiB per second) needs five minutes for such a step.
 */
export const UNREAD_MS_MAX = 300_000;

const TIMES = {
  /** Time to keep an idle connection open. Longer than the 60 s of load balancers, so that a load balancer closes it first. */
  keepAliveMs: 75_000,
  headersMsMax: 30_000,
  handshakeMsMax: 10_000,
  unreadMsMax: UNREAD_MS_MAX,
  checkMs: 1_000,
};
/** Opens a listener, which adds `X-Request-Id` to every response. @throws DocshelfError `port_taken`, `cannot_listen` */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { name, onRequest = () => undefined, onFault } = options;
  const times = { ...TIMES, ...options.times };
  const server = createServer({
    keepAliveTimeout: times.keepAliveMs,
    headersTimeout: times.headersMsMax,
    requestTimeout: LISTENERS[name].receiveMsMax,
    connectionsCheckingInterval: times.checkMs,
    maxHeaderSize: HEADER_BYTES_MAX,
    // Join repeated header fields, because docshelf must ignore If-Unmodified-Since with several dates (RFC 9110, section 13.1.4).
    joinDuplicateHeaders: true,
    // docshelf checks the Host header itself, because Node's response to an invalid Host has no request id.
    requireHostHeader: false,
  });
  // If the client ends its half of the connection, the listener for sites still responds. Other listeners cancel the request.
  Object.assign(server, { httpAllowHalfOpen: name === 'site' });
  const budget = options.budget ?? new ClientBudget();
  const connections = new Connections(server, budget);
  const meter = new RequestMeter(name, onRequest);
  const files = new FileSender();
  const answers = new WeakMap<ServerResponse, HeldAnswer>();
  const respondTo: Parameters<typeof getRequestListener>[0] = (request, bindings) => {
    const env = bindings as HttpBindings;
    const response = options.fetch(request, env);
    if (!(response instanceof Promise)) return response;
    const failed = (cause: unknown): Response => {
      const [error, requestId] = [toDocshelfError(cause), requestIdOf(env)];
      if (!env.outgoing.destroyed) onFault?.(error, requestId);
      return problemResponse(error, requestId);
    };
    const held = answers.get(env.outgoing);
    return response.then(
      (each) => (each instanceof LargeResponse && held !== undefined ? files.send(each, env.outgoing, held) : each),
      failed,
    );
  };
  const answer = getRequestListener(respondTo, {
    hostname: 'localhost',
    // Return undefined for a rejected request, so that `handle` sends the response with the request id.
    errorHandler: (error) =>
      error instanceof RequestError ? undefined : problemResponse(toDocshelfError(error), null),
  });

  let tls: TlsPort | null = null;
  const handle = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const isOfHttp2 = isHttp2(incoming);
    if (isOfHttp2) setHostOfHttp2(incoming);
    const requestId = requestIdFor(incoming.headers['x-request-id']);
    const hsts = tls?.hsts ?? null;
    const stream = isOfHttp2 ? (tls?.http2.began(incoming as never, outgoing as never) ?? null) : null;
    if (isOfHttp2 && stream === null) return;
    const begun = { requestId, startedMs: performance.now(), peer: peerOf(incoming) };
    const isPlain = isPlainRequest(incoming, outgoing);
    const mayBePrepared = isPlain && !connections.isDraining && (stream === null || stream.hasRoom);
    const prepared = mayBePrepared ? (options.fastAnswer?.(incoming) ?? null) : null;
    if (prepared !== null) {
      writePrepared(prepared, outgoing, { requestId, hsts });
      // If the client has unread bytes, count the request as in flight until the client has read them.
      if (!isOfHttp2 && incoming.socket.writableLength === 0) {
        meter.ended(incoming, outgoing, begun);
        return;
      }
    }
    outgoing.once('close', () => meter.ended(incoming, outgoing, begun));
    const held = stream ?? connections.began(outgoing);
    if (held === null) {
      incoming.socket.destroy();
      return;
    }
    if (prepared !== null) {
      held.hold(prepared.body?.length ?? 0);
      return;
    }
    outgoing.setHeader(REQUEST_ID_HEADER, requestId);
    if (hsts !== null) outgoing.setHeader(HSTS_HEADER, hsts);
    answers.set(outgoing, held);
    const act = () => void respond(incoming, outgoing, { held, requestId, isPlain });
    const actInOrder = () => connections.whenPreviousSent(outgoing, () => held.whenRoom(act));
    // Do not wait for earlier responses: HTTP/2 needs no order, and before a plain request (`isPlainRequest`), all of them are
    // sent.
    if (isOfHttp2 || isPlain) held.whenRoom(act);
    else if (hasBody(incoming)) connections.afterPacket(outgoing, actInOrder);
    else actInOrder();
  };
  const respond = async (
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    { held, requestId, isPlain }: { readonly held: HeldAnswer; readonly requestId: string; readonly isPlain: boolean },
  ): Promise<void> => {
    if (held.isOver) return;
    const refusal = isPlain ? null : refusalOf(incoming);
    if (refusal !== null) {
      refuse(refusal, outgoing, requestId);
      return;
    }
    // Close the connection, because Transfer-Encoding in HTTP/1.0 is not reliable (RFC 9112, section 6.1).
    if (incoming.httpVersion === '1.0' && incoming.headers['transfer-encoding'] !== undefined) {
      outgoing.setHeader('Connection', 'close');
    }
    if (!isPlain) normalizeAddress(incoming);
    await answer(incoming, outgoing);
    if (!outgoing.headersSent && !outgoing.destroyed) refuse(BAD_ADDRESS, outgoing, requestId);
    held.holdUnread();
  };
  server.on('request', handle);
  server.on('checkContinue', handle);
  // Ignore all expectations except 100-continue (RFC 9110, section 10.1.1). Node would respond with 417 and no request id.
  server.on('checkExpectation', handle);
  server.on('connect', answerConnect(connections, meter));
  server.on('clientError', answerMalformed(connections, meter));
  if (options.tls !== undefined) {
    tls = new TlsPort(server, options.tls, {
      handshakeMsMax: times.handshakeMsMax,
      http2: {
        headerBytesMax: HEADER_BYTES_MAX,
        idleMsMax: times.keepAliveMs,
        budget,
        receiveMsMax: LISTENERS[name].receiveMsMax,
        // Cast the handler, because requests of HTTP/1.1 and HTTP/2 have the same members, but different types.
        onRequest: handle as unknown as Http2Options['onRequest'],
      },
      onPlain: answerPlainHttp(meter),
    });
  }

  // Add this event listener only after the TLS port has taken over all earlier ones. It then counts connections before their
  // handshake, and those of HTTP/2.
  server.prependListener('connection', (socket) => {
    if (!budget.connect(socket)) socket.destroy();
  });
  const bound = await listen(server, options);
  server.once('close', budget.watch(times));
  server.on('error', (error) => onFault?.(toDocshelfError(error), null));
  let stopped: Promise<void> | null = null;
  return {
    url:
      'host' in options
        ? `${tls === null ? 'http' : 'https'}://${urlHost(bound.address)}:${bound.port}`
        : `unix:${options.socket}`,
    port: bound.port,
    address: bound.address,
    useTls: (settings) => tls?.use(settings),
    isCertifiedFor: (host) => tls?.covers(host) ?? false,
    stop: (deadlineMs) => {
      stopped ??= close(server, tls === null ? [connections] : [connections, tls], deadlineMs);
      return stopped;
    },
  };
}

const HSTS_HEADER = 'Strict-Transport-Security';

/**
 * Host name or IPv4 address with an optional port. The framework checks requests with any other Host header. Node joins several
 * Host headers with commas, which do not match.
 */
const PLAIN_HOST = /^[A-Za-z0-9._-]+(?::\d{1,5})?$/;

/** True for a valid GET without a body, whose response does not have to wait for an earlier response of the connection. */
function isPlainRequest(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
  const { method, url = '', httpVersion, headers } = incoming;
  if (method !== 'GET' || outgoing.socket === null || headers['content-length'] !== undefined) return false;
  // Use no prepared response for the script of a service worker, because `forWorker` can change the response.
  if (headers['service-worker'] !== undefined) return false;
  if (httpVersion !== '1.1') return isHttp2(incoming) && refusalOf(incoming) === null;
  if (!url.startsWith('/') || url.length > TARGET_LENGTH_MAX || headers['transfer-encoding'] !== undefined)
    return false;
  return PLAIN_HOST.test(headers.host ?? '');
}

export function writePrepared(
  { status, headers, body }: FastAnswer,
  outgoing: ServerResponse,
  { requestId, hsts }: { readonly requestId: string; readonly hsts: string | null },
): void {
  const fields = headers.concat(REQUEST_ID_HEADER, requestId);
  if (hsts !== null) fields.push(HSTS_HEADER, hsts);
  outgoing.writeHead(status, fields);
  outgoing.end(body ?? undefined);
}

/** Sets the umask before `listen`, so that only the owner can ever open the socket. */
async function listen(server: Server, options: ListenerOptions): Promise<AddressInfo> {
  const at: ListenAddress = options;
  if ('host' in at) server.listen({ host: at.host, port: at.port });
  else {
    const mask = process.umask(0o177);
    server.listen(at.socket);
    process.umask(mask);
  }
  try {
    await once(server, 'listening');
  } catch (error) {
    if ('socket' in at) return rethrowAs('cannot_listen', `listen on "${at.socket}"`, undefined, errnoState)(error);
    throw listenFault(error, options, at);
  }
  const bound = server.address();
  return typeof bound === 'object' && bound !== null ? bound : { address: String(bound), port: 0, family: 'unix' };
}

function listenFault(
  error: unknown,
  { name, portKey }: ListenerHandlers,
  { host, port }: { readonly host: string; readonly port: number },
): DocshelfError {
  const { code, message } = error as NodeJS.ErrnoException;
  const { section } = LISTENERS[name];
  const key = portKey ?? `${section}.port`;
  const act = `Cannot listen on "${urlHost(host)}:${port}" for the ${name}`;
  const detail = { fields: { listener: name, host, port }, cause: error };
  if (code === 'EADDRINUSE') {
    return new DocshelfError('port_taken', `${act}: port ${port} is in use`, {
      ...detail,
      next: `Stop the program that uses the port, or set ${key} to a free port.`,
    });
  }
  if (code === 'EACCES') {
    return new DocshelfError(
      'cannot_listen',
      `${act}: the user that runs docshelf is not allowed to use port ${port}`,
      {
        ...detail,
        next: `Set ${key} to a port above 1023.`,
      },
    );
  }
  const state = code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' ? 'this machine has no such address' : message;
  return new DocshelfError('cannot_listen', `${act}: ${state}`, {
    ...detail,
    next: `Set ${section}.host to an address of this machine: 127.0.0.1 for local clients only, 0.0.0.0 for all networks.`,
  });
}

async function close(
  server: Server,
  all: readonly Pick<Connections, 'drain' | 'cut'>[],
  deadlineMs: number,
): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  for (const each of all) each.drain();
  const cut = setTimeout(() => {
    for (const each of all) each.cut();
  }, deadlineMs);
  await closed;
  clearTimeout(cut);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

function urlHost(address: string): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  if (address === '::') return '[::1]';
  return address.includes(':') ? `[${address}]` : address;
}
