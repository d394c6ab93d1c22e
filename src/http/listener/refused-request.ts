import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { DocshelfError } from '../../domain/errors.ts';
import { OWN_HEADERS } from '../../domain/own-headers.ts';
import { problemOf } from '../problem.ts';
import { type Connections, LINGER_MS } from './connections.ts';
import { isHttp2, REQUEST_ID_HEADER } from './request.ts';
import type { RequestMeter } from './served-request.ts';

export const HEADER_BYTES_MAX = 32 * 1024;
/** Maximum characters of a request target. A path and a query of 4,096 bytes each fit, even if every byte is escaped. */
export const TARGET_LENGTH_MAX = 16 * 1024;

interface Refusal {
  readonly status: number;
  readonly state: string;
}

const TARGET_TOO_LONG: Refusal = { status: 414, state: 'its address is too long' };
const FIELDS_TOO_LARGE: Refusal = { status: 431, state: 'its headers are too long' };
const OTHER_VERSION: Refusal = { status: 505, state: 'docshelf does not support its HTTP version' };
const NO_HOST: Refusal = { status: 400, state: 'it has no Host header' };
const TWO_HOSTS: Refusal = { status: 400, state: 'it has more than one Host header' };
const OTHER_HOST: Refusal = { status: 400, state: 'its Host header differs from its :authority' };
const FOR_PROXY: Refusal = { status: 501, state: 'it is for a proxy, and docshelf is not a proxy' };
const BAD_HOST: Refusal = { status: 400, state: 'its Host header names no host' };
export const BAD_ADDRESS: Refusal = { status: 400, state: 'its address or its Host header is malformed' };
const HOSTLESS: Refusal = { status: 400, state: 'its address names no host' };
const UNENDED_CODING: Refusal = { status: 400, state: 'its Transfer-Encoding does not end in "chunked"' };
const UNKNOWN_CODING: Refusal = { status: 501, state: 'its body has a transfer coding other than "chunked"' };

/** Valid Host header. The framework parses host and target as one URL, so a path in the host would replace the path of the target. */
const HOST = /^(?:(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?)?$/;

/** Matches absolute targets without a host (RFC 9110, section 4.2.1), or with user information, which can mislead (section 4.2.4). */
const HOSTLESS_ADDRESS = /^https?:\/\/(?:[/?#:]|$|[^/?#]*@)/i;

export function refusalOf(incoming: IncomingMessage): Refusal | null {
  const { method, url = '', httpVersion, headers, rawHeaders } = incoming;
  // CONNECT arrives here only with HTTP/2, because Node emits a separate event for CONNECT of HTTP/1.1.
  if (method === 'CONNECT') return FOR_PROXY;
  if (httpVersion !== '1.1' && httpVersion !== '1.0' && !isHttp2(incoming)) return OTHER_VERSION;
  if (url.length > TARGET_LENGTH_MAX) return TARGET_TOO_LONG;
  if (!url.startsWith('/') && HOSTLESS_ADDRESS.test(url)) return HOSTLESS;
  // HTTP/1.1 requires Host (RFC 9112, section 3.2). Accept HTTP/1.0 without Host, because some load balancers send such probes.
  if (headers.host === undefined) {
    if (httpVersion !== '1.0') return NO_HOST;
  } else if (hostsIn(rawHeaders) > 1) return TWO_HOSTS;
  else if (!HOST.test(headers.host)) return BAD_HOST;
  const authority = headers[':authority'];
  if (authority !== undefined && authority !== headers.host) return OTHER_HOST;
  // Check the size of the header here, because Node enforces its HTTP/2 limit only after the client has acknowledged the limit.
  if (httpVersion === '2.0' && rawHeaders.reduce((sum, each) => sum + each.length, 0) > HEADER_BYTES_MAX)
    return FIELDS_TOO_LARGE;
  // Reject every transfer coding except `chunked` (RFC 9112, section 6.3, item 4).
  const coding = headers['transfer-encoding']?.toLowerCase();
  if (coding === undefined || coding === 'chunked') return null;
  return /,\s*chunked$/.test(coding) ? UNKNOWN_CODING : UNENDED_CODING;
}

const hostsIn = (rawHeaders: readonly string[]): number =>
  rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length;

/** Copies the host of an HTTP/2 request from `:authority` (RFC 9113, section 8.3.1). */
export function setHostOfHttp2({ headers }: IncomingMessage): void {
  const authority = headers[':authority'];
  if (typeof authority === 'string') headers.host ??= authority;
}

/** Replaces an absolute target by its path, and the Host header by the host of the target (RFC 9112, section 3.2.2). */
export function normalizeAddress(incoming: IncomingMessage): void {
  const { method, url = '', headers } = incoming;
  const [origin, host] = /^https?:\/\/([^/?#]+)/i.exec(url) ?? [];
  // `OPTIONS *` is about the whole server (RFC 9112, section 3.2.4). It gets the same response as the path `/`.
  if (url === '*' && method === 'OPTIONS') incoming.url = '/';
  else if (origin !== undefined && host !== undefined) {
    incoming.url = url.slice(origin.length).replace(/^(?!\/)/, '/');
    headers.host = host;
  }
  if (headers.host?.endsWith(':') === true) headers.host = headers.host.slice(0, -1);
}

function refusalParts({ status, state }: Refusal, requestId: string) {
  const fault = new DocshelfError('bad_request', `Cannot read the request: ${state}`);
  const body = `${JSON.stringify({ ...problemOf(fault, requestId), status, title: STATUS_CODES[status] })}\n`;
  const headers = {
    Connection: 'close',
    'Content-Type': 'application/problem+json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    ...OWN_HEADERS,
    [REQUEST_ID_HEADER]: requestId,
  };
  return { headers, body };
}

/** Responds synchronously, before the parser can find an error in the rest of the request and end the connection. */
export function refuse(refusal: Refusal, outgoing: ServerResponse, requestId: string): void {
  const { headers, body } = refusalParts(refusal, requestId);
  outgoing.writeHead(refusal.status, headers).end(body);
}

const BY_FAULT: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: FIELDS_TOO_LARGE,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, state: 'the extensions of its chunks are too long' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, state: 'it was incomplete at the time limit' },
};
const OTHER_METHOD: Refusal = { status: 501, state: 'its method is unknown' };
const NO_HTTP: Refusal = { status: 400, state: 'it is not well-formed HTTP/1.1' };

const CLIENT_LEFT = new Set(['ECONNRESET', 'EPIPE', 'HPE_INVALID_EOF_STATE']);

interface ParserFault extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

export function answerMalformed(
  connections: Connections,
  meter: RequestMeter,
): (error: ParserFault, socket: Duplex) => void {
  const answered = new WeakSet<Socket>();
  return (error, duplex) => {
    const socket = duplex as Socket;
    // Respond only once, because each further packet of the connection causes another error.
    if (answered.has(socket)) return;
    answered.add(socket);
    connections.respondNow(socket);
    // Send nothing on an unused connection, and nothing in the middle of another response, which would become unreadable.
    const isUnused = socket.bytesRead === 0;
    const incomplete = connections.incompleteOf(socket);
    const isAsked = incomplete !== undefined && !incomplete.writableEnded;
    if (!socket.writable || isUnused || CLIENT_LEFT.has(error.code ?? '') || isAsked) {
      socket.destroy();
      return;
    }
    // Send nothing if the request has a response, or an earlier request was the last of the connection (RFC 9112, section 9.6).
    if (incomplete !== undefined || error.code === 'HPE_CLOSED_CONNECTION') {
      connections.whenIdle(socket, () => socket.destroySoon());
      return;
    }
    const refusal = refusalOfFault(error);
    // Send the responses to the previous valid requests first.
    connections.whenIdle(socket, () => tell(socket, refusal));
  };

  function tell(socket: Socket, refusal: Refusal): void {
    if (!socket.writable) return;
    write(refusal, socket, meter);
    socket.destroySoon();
  }
}

export function answerConnect(
  connections: Connections,
  meter: RequestMeter,
): (incoming: IncomingMessage, socket: Duplex) => void {
  return (_, duplex) => {
    const socket = duplex as Socket;
    socket.on('error', () => socket.destroy());
    connections.whenIdle(socket, () => {
      if (!socket.writable) return;
      write(FOR_PROXY, socket, meter);
      readUntilClosed(socket);
    });
  };
}

function readUntilClosed(socket: Socket): void {
  const late = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(late));
  socket.end();
  socket.resume();
}

const NO_TLS: Refusal = { status: 400, state: 'it is plain HTTP, and this port needs HTTPS. Use https://' };

export function answerPlainHttp(meter: RequestMeter): (socket: Socket) => void {
  return (socket) => {
    write(NO_TLS, socket, meter);
    readUntilClosed(socket);
  };
}

function write(refusal: Refusal, socket: Socket, meter: RequestMeter): void {
  const requestId = randomUUID();
  socket.write(answerOf(refusal, requestId));
  meter.malformed(socket, refusal.status, requestId);
}

function refusalOfFault({ code = '', rawPacket, bytesParsed = 0 }: ParserFault): Refusal {
  // If the parsed text starts with a method and contains no line end, the request line, not a header, exceeds the limit.
  const text = rawPacket?.toString('latin1') ?? '';
  if (code === 'HPE_HEADER_OVERFLOW' && /^[A-Z]+ [^\n]*$/.test(text.slice(0, bytesParsed))) return TARGET_TOO_LONG;
  const line = text.slice(text.lastIndexOf('\n', bytesParsed - 1) + 1);
  if (code === 'HPE_INVALID_METHOD' && REQUEST_LINE.test(line)) return OTHER_METHOD;
  return BY_FAULT[code] ?? NO_HTTP;
}

/** Request line that is valid except for its method. The end of the line can still be missing. */
const REQUEST_LINE = /^[!#$%&'*+.^_`|~\w-]+ (?:[^ \r\n]+ HTTP\/\d\.\d\r?\n|[^\r\n]*$)/;

/** Builds the response as text, because Node provides no response object for a request that it cannot parse. */
function answerOf(refusal: Refusal, requestId: string): string {
  const { headers, body } = refusalParts(refusal, requestId);
  const fields = Object.entries({ Date: new Date().toUTCString(), ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${fields.join('')}\r\n${body}`;
}
