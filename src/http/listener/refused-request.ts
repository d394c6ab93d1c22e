import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { DocshelfError } from '../../domain/errors.ts';
import { noticeAnswer, OWN_HEADERS } from '../../site/index.ts';
import { problemOf } from '../problem.ts';
import { type Connections, LINGER_MS } from './connections.ts';
import { REQUEST_ID_HEADER, requestField } from './request.ts';
import type { RequestMeter } from './served-request.ts';

export const HEADER_BYTES_MAX = 32 * 1024;
/** Enough for a path and a query of 4,096 bytes each with every byte escaped. */
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
const HOSTLESS: Refusal = { status: 400, state: 'its address names no host' };
const UNENDED_CODING: Refusal = { status: 400, state: 'its Transfer-Encoding does not end in "chunked"' };
const UNKNOWN_CODING: Refusal = { status: 501, state: 'its body has a transfer coding other than "chunked"' };

/** The framework parses the host before the target, as one URL, so a path in the host would replace the target's. */
const HOST = /^(?:(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?)?$/;

/** An absolute form without a host (RFC 9110, section 4.2.1), or with user information, which misleads (section 4.2.4). */
const HOSTLESS_ADDRESS = /^https?:\/\/(?:[/?#:]|$|[^/?#]*@)/i;

export function refusalOf(incoming: IncomingMessage): Refusal | null {
  const { method, url = '', httpVersion, headers, rawHeaders } = incoming;
  // This request is HTTP/2, because Node itself handles CONNECT of HTTP/1.1.
  if (method === 'CONNECT') return FOR_PROXY;
  if (httpVersion !== '1.1' && httpVersion !== '1.0' && !isHttp2(incoming)) return OTHER_VERSION;
  if (url.length > TARGET_LENGTH_MAX) return TARGET_TOO_LONG;
  if (!url.startsWith('/') && HOSTLESS_ADDRESS.test(url)) return HOSTLESS;
  // RFC 9112, section 3.2. Some load balancers send probes by HTTP/1.0 without a Host.
  if (headers.host === undefined) {
    if (httpVersion !== '1.0') return NO_HOST;
  } else if (hostsIn(rawHeaders) > 1) return TWO_HOSTS;
  else if (!HOST.test(headers.host)) return BAD_HOST;
  const authority = headers[':authority'];
  if (authority !== undefined && authority !== headers.host) return OTHER_HOST;
  // For HTTP/2, Node enforces its limit only after the client has acknowledged it.
  if (httpVersion === '2.0' && rawHeaders.reduce((sum, each) => sum + each.length, 0) > HEADER_BYTES_MAX)
    return FIELDS_TOO_LARGE;
  // RFC 9112, section 6.3, item 4.
  const coding = headers['transfer-encoding']?.toLowerCase();
  if (coding === undefined || coding === 'chunked') return null;
  return /,\s*chunked$/.test(coding) ? UNKNOWN_CODING : UNENDED_CODING;
}

export function hostsIn(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    // Nearly all clients write `Host`: compare it first, without allocating a string.
    if (name?.length === 4 && (name === 'Host' || name.toLowerCase() === 'host')) count++;
  }
  return count;
}

/** Decides by the connection, because a request line can contain any version. */
export function isHttp2(incoming: IncomingMessage): boolean {
  return 'stream' in incoming;
}

/** HTTP/2 has the host in `:authority` (RFC 9113, section 8.3.1). */
export function setHostOfHttp2({ headers }: IncomingMessage): void {
  const authority = headers[':authority'];
  if (typeof authority === 'string') headers.host ??= authority;
}

export function normalizeAddress(incoming: IncomingMessage): void {
  const { method, url, headers } = incoming;
  // A request about the whole server (RFC 9112, section 3.2.4) gets the response of its root.
  if (url === '*' && method === 'OPTIONS') incoming.url = '/';
  // Schemes are case-insensitive (RFC 3986, section 3.1), and a port can be empty (section 3.2.3).
  else if (url !== undefined && !url.startsWith('/'))
    incoming.url = url.replace(/^https?:\/\//i, (scheme) => scheme.toLowerCase());
  if (headers.host?.endsWith(':') === true) headers.host = headers.host.slice(0, -1);
}

function refusalParts(
  { status, state }: Refusal,
  requestId: string,
): { readonly headers: Readonly<Record<string, string>>; readonly body: string } {
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

/** Responds at once, because the parser can find an error in the rest of the request. */
export function refuse(refusal: Refusal, outgoing: ServerResponse, requestId: string): void {
  const { headers: fields } = outgoing.req;
  // A reader can follow a link to this error, so respond with a page.
  if (refusal === TARGET_TOO_LONG && fields.accept?.includes('text/html') === true) {
    const last = { Connection: 'close', 'Cache-Control': 'no-store', [REQUEST_ID_HEADER]: requestId };
    const notice = { status: refusal.status, words: 'longAddress', language: null, headers: last } as const;
    const { headers, body } = noticeAnswer({ header: (name) => requestField(fields, name) }, notice);
    outgoing.writeHead(refusal.status, [...headers]).end(body);
    return;
  }
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
  meter: RequestMeter | null,
): (error: ParserFault, socket: Duplex) => void {
  const answered = new WeakSet<Socket>();
  return (error, duplex) => {
    const socket = duplex as Socket;
    // Each further packet of the connection causes another error.
    if (answered.has(socket)) return;
    answered.add(socket);
    connections.respondNow(socket);
    // An unused connection is not an error, and a response in the middle of another one would garble it.
    const isUnused = socket.bytesRead === 0;
    const incomplete = connections.incompleteOf(socket);
    const isAsked = incomplete !== undefined && !incomplete.writableEnded;
    if (!socket.writable || isUnused || CLIENT_LEFT.has(error.code ?? '') || isAsked) {
      socket.destroy();
      return;
    }
    // The request has its response, or follows the last request of the connection, which gets none (RFC 9112, section 9.6).
    if (incomplete !== undefined || error.code === 'HPE_CLOSED_CONNECTION') {
      connections.whenIdle(socket, () => socket.destroySoon());
      return;
    }
    const refusal = refusalOfFault(error);
    // Respond to the previous valid requests first.
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
  meter: RequestMeter | null,
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

/** Reads until the client has read its response, which a reset would discard. */
function readUntilClosed(socket: Socket): void {
  const late = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(late));
  socket.end();
  socket.resume();
}

const NO_TLS: Refusal = { status: 400, state: 'it is plain HTTP, and this port needs HTTPS. Use https://' };

export function answerPlainHttp(meter: RequestMeter | null): (socket: Socket) => void {
  return (socket) => {
    write(NO_TLS, socket, meter);
    readUntilClosed(socket);
  };
}

function write(refusal: Refusal, socket: Socket, meter: RequestMeter | null): void {
  const requestId = randomUUID();
  socket.write(answerOf(refusal, requestId));
  meter?.malformed(socket, refusal.status, requestId);
}

function refusalOfFault({ code = '', rawPacket, bytesParsed = 0 }: ParserFault): Refusal {
  // If the parsed text begins with a method and has no line end, the request line itself is over the limit.
  const parsed = rawPacket?.subarray(0, bytesParsed).toString('latin1') ?? '';
  if (code === 'HPE_HEADER_OVERFLOW' && /^[A-Z]+ [^\n]*$/.test(parsed)) return TARGET_TOO_LONG;
  if (code === 'HPE_INVALID_METHOD' && isRequest(rawPacket, bytesParsed)) return OTHER_METHOD;
  return BY_FAULT[code] ?? NO_HTTP;
}

/** A request line that is well-formed except for its method. Its end can arrive later. */
const REQUEST_LINE = /^[!#$%&'*+.^_`|~\w-]+ (?:[^ \r\n]+ HTTP\/\d\.\d\r?\n|[^\r\n]*$)/;

function isRequest(packet: Buffer | undefined, at: number): boolean {
  const text = packet?.toString('latin1') ?? '';
  return REQUEST_LINE.test(text.slice(text.lastIndexOf('\n', at - 1) + 1));
}

/** Builds the response by hand, because Node cannot respond to a request that it could not parse. */
function answerOf(refusal: Refusal, requestId: string): string {
  const { headers, body } = refusalParts(refusal, requestId);
  const fields = Object.entries({ Date: new Date().toUTCString(), ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${fields.join('')}\r\n${body}`;
}
