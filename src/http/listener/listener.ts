import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server';
import { DocshelfError, errnoState, rethrowAs, toDocshelfError } from '../../domain/errors.ts';
import { problemResponse } from '../problem.ts';
import { Connections } from './connections.ts';
import { answerMalformed } from './malformed-request.ts';
import { REQUEST_ID_HEADER, requestIdFrom, requestIdOf } from './request-id.ts';
import { LISTENERS, type ListenerName, RequestMeter, type ServedRequest } from './served-request.ts';

export type ListenerOptions = ListenerHandlers & ListenAddress;

interface ListenerHandlers {
  readonly name: ListenerName;
  readonly fetch: (request: Request, env: HttpBindings) => Response | Promise<Response>;
  readonly onRequest?: (served: ServedRequest) => void;
  readonly onFault?: (error: DocshelfError) => void;
}

/** Port 0 takes a free one. A Unix socket is for its owner alone. */
export type ListenAddress = { readonly host: string; readonly port: number } | { readonly socket: string };

export interface Listener {
  /** A wildcard host is shown as loopback. */
  readonly url: string;
  readonly port: number;
  readonly address: string;
  /** Closes idle connections, ends requests in flight with `Connection: close`, cuts the rest at the deadline. */
  stop(deadlineMs: number): Promise<void>;
}

/** Longer than the 60 s of load balancers, which would send a request into a closing connection. */
const KEEP_ALIVE_MS = 75_000;
const HEADERS_MS_MAX = 30_000;
/** 20 KiB each: 200 MiB. */
const CONNECTIONS_MAX = 10_000;

/** Every answer carries `X-Request-Id`. @throws DocshelfError `port_taken`, `cannot_listen`. */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { name, onRequest, onFault } = options;
  const server = createServer({
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: HEADERS_MS_MAX,
    requestTimeout: LISTENERS[name].receiveMsMax,
    // Node would answer without an id.
    requireHostHeader: false,
  });
  server.maxConnections = CONNECTIONS_MAX;
  const connections = new Connections(server);
  const meter = onRequest === undefined ? null : new RequestMeter(name, onRequest);
  // HTTP/1.0 asks without a Host, as some load balancers' probes do.
  const respond = (request: Request, env: HttpBindings): Response | Promise<Response> =>
    hasNoHost(env.incoming) ? problemResponse(NO_HOST, requestIdOf(env)) : options.fetch(request, env);
  const answer = getRequestListener((request, env) => respond(request, env as HttpBindings), {
    hostname: 'localhost',
    // Undefined: `handle` answers, which knows the id.
    errorHandler: (error) =>
      error instanceof RequestError ? undefined : problemResponse(toDocshelfError(error), null),
  });

  const handle = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const requestId = requestIdFrom(incoming.headers['x-request-id']);
    outgoing.setHeader(REQUEST_ID_HEADER, requestId);
    connections.began(outgoing);
    meter?.began(incoming, outgoing, requestId);
    void answer(incoming, outgoing).then(() => {
      if (!outgoing.headersSent && !outgoing.destroyed) void send(problemResponse(NO_ADDRESS, requestId), outgoing);
    });
  };
  server.on('request', handle);
  server.on('checkContinue', handle);
  // Other expectations may be ignored (RFC 9110, section 10.1.1); Node's 417 would have no id.
  server.on('checkExpectation', handle);
  server.on('clientError', answerMalformed(connections, meter));

  const bound = await listen(server, name, options);
  server.on('error', (error) => onFault?.(toDocshelfError(error)));
  let stopped: Promise<void> | null = null;
  return {
    url: 'host' in options ? `http://${urlHost(bound.address)}:${bound.port}` : `unix:${options.socket}`,
    port: bound.port,
    address: bound.address,
    stop: (deadlineMs) => {
      stopped ??= close(server, connections, deadlineMs);
      return stopped;
    },
  };
}

/** A socket is bound before `listen` returns: its mode is right from the first moment. */
async function listen(server: Server, name: ListenerName, at: ListenAddress): Promise<AddressInfo> {
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
    throw listenFault(error, name, at.host, at.port);
  }
  const bound = server.address();
  return typeof bound === 'object' && bound !== null ? bound : { address: String(bound), port: 0, family: 'unix' };
}

function listenFault(error: unknown, name: ListenerName, host: string, port: number): DocshelfError {
  const { code, message } = error as NodeJS.ErrnoException;
  const { section } = LISTENERS[name];
  const act = `Cannot listen on "${urlHost(host)}:${port}" for the ${name}`;
  const detail = { fields: { listener: name, host, port }, cause: error };
  if (code === 'EADDRINUSE') {
    return new DocshelfError('port_taken', `${act}: port ${port} is taken`, {
      ...detail,
      next: `Stop what listens there, or set ${section}.port to a free port.`,
    });
  }
  if (code === 'EACCES') {
    return new DocshelfError('cannot_listen', `${act}: the user that docshelf runs as may not use port ${port}`, {
      ...detail,
      next: `Set ${section}.port to one above 1023.`,
    });
  }
  const state = code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' ? 'this machine has no such address' : message;
  return new DocshelfError('cannot_listen', `${act}: ${state}`, {
    ...detail,
    next: `Set ${section}.host to an address of this machine: 127.0.0.1 for it alone, 0.0.0.0 for every network.`,
  });
}

async function close(server: Server, connections: Connections, deadlineMs: number): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  connections.drain();
  const cut = setTimeout(() => connections.cut(), deadlineMs);
  await closed;
  clearTimeout(cut);
}

const NO_HOST = new DocshelfError('bad_request', 'Cannot read the request: it has no Host header');

/** RFC 9112, section 3.2. */
function hasNoHost({ httpVersion, headers }: IncomingMessage): boolean {
  return headers.host === undefined && httpVersion !== '1.0';
}

const NO_ADDRESS = new DocshelfError(
  'bad_request',
  'Cannot read the request: its address or its Host header is malformed',
);

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  const body = await response.text();
  outgoing.writeHead(response.status, {
    ...Object.fromEntries(response.headers),
    'Content-Length': Buffer.byteLength(body),
  });
  outgoing.end(body);
}

function urlHost(address: string): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  if (address === '::') return '[::1]';
  return address.includes(':') ? `[${address}]` : address;
}
