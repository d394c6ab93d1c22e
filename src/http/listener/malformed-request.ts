import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Connections, LINGER_MS } from './connections.ts';
import { FIELDS_TOO_LARGE, FOR_PROXY, type Refusal, refusalParts, TARGET_TOO_LONG } from './refused-request.ts';
import type { RequestIds } from './request-id.ts';
import type { RequestMeter } from './served-request.ts';

const BY_FAULT: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: FIELDS_TOO_LARGE,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, state: 'the extensions of its chunks are over the limit' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, state: 'it did not come whole within the time limit' },
};
/** RFC 9110, section 9.1. */
const OTHER_METHOD: Refusal = { status: 501, state: 'docshelf does not know its method' };
const NO_HTTP: Refusal = { status: 400, state: 'it is not well-formed HTTP/1.1' };

const CLIENT_LEFT = new Set(['ECONNRESET', 'EPIPE', 'HPE_INVALID_EOF_STATE']);

interface ParserFault extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

export function answerMalformed(
  connections: Connections,
  meter: RequestMeter | null,
  ids: RequestIds,
): (error: ParserFault, socket: Duplex) => void {
  const told = new WeakSet<Socket>();
  return (error, duplex) => {
    const socket = duplex as Socket;
    // Each packet after a fault is another.
    if (told.has(socket)) return;
    told.add(socket);
    connections.now(socket);
    // An unused connection is no fault, and the answer to half a request would be garbled.
    const isUnused = socket.bytesRead === 0;
    const incomplete = connections.incompleteOf(socket);
    const isAsked = incomplete !== undefined && !incomplete.writableEnded;
    if (!socket.writable || isUnused || CLIENT_LEFT.has(error.code ?? '') || isAsked) {
      socket.destroy();
      return;
    }
    // Its only answer is there, or what follows the last request of a connection gets none (RFC 9112, section 9.6).
    if (incomplete !== undefined || error.code === 'HPE_CLOSED_CONNECTION') {
      connections.whenIdle(socket, () => socket.destroySoon());
      return;
    }
    const refusal = refusalOfFault(error);
    // Whatever was asked well before it is answered first.
    connections.whenIdle(socket, () => tell(socket, refusal));
  };

  function tell(socket: Socket, refusal: Refusal): void {
    // The last answer closed it.
    if (!socket.writable) return;
    write(refusal, socket, { meter, ids });
    socket.destroySoon();
  }
}

/** For `CONNECT`, whose connection Node gives away. */
export function answerConnect(
  connections: Connections,
  meter: RequestMeter | null,
  ids: RequestIds,
): (incoming: IncomingMessage, socket: Duplex) => void {
  return (_, duplex) => {
    const socket = duplex as Socket;
    socket.on('error', () => socket.destroy());
    connections.whenIdle(socket, () => {
      if (!socket.writable) return;
      write(FOR_PROXY, socket, { meter, ids });
      leave(socket);
    });
  };
}

/** Reads on until the client has read its answer, which a reset would keep it from. */
function leave(socket: Socket): void {
  const late = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(late));
  socket.end();
  socket.resume();
}

const NO_TLS: Refusal = { status: 400, state: 'it is plain HTTP, and this port speaks HTTPS; ask with https://' };
/** For a connection to a port of TLS that begins otherwise. */
export function answerPlainHttp(meter: RequestMeter | null, ids: RequestIds): (socket: Socket) => void {
  return (socket) => {
    write(NO_TLS, socket, { meter, ids });
    leave(socket);
  };
}

function write(
  refusal: Refusal,
  socket: Socket,
  { meter, ids }: { readonly meter: RequestMeter | null; readonly ids: RequestIds },
): void {
  const requestId = ids.next();
  socket.write(answerOf(refusal, requestId));
  meter?.malformed(socket, refusal.status, requestId);
}

function refusalOfFault({ code = '', rawPacket, bytesParsed = 0 }: ParserFault): Refusal {
  // A line that has not ended where the limit was passed is the first one, where it begins with a method.
  const parsed = rawPacket?.subarray(0, bytesParsed).toString('latin1') ?? '';
  if (code === 'HPE_HEADER_OVERFLOW' && /^[A-Z]+ [^\n]*$/.test(parsed)) return TARGET_TOO_LONG;
  if (code === 'HPE_INVALID_METHOD' && isRequest(rawPacket, bytesParsed)) return OTHER_METHOD;
  return BY_FAULT[code] ?? NO_HTTP;
}

/** A request line that only its method is wrong in; its end may come later. */
const REQUEST_LINE = /^[!#$%&'*+.^_`|~\w-]+ (?:[^ \r\n]+ HTTP\/\d\.\d\r?\n|[^\r\n]*$)/;

/** @param at where the parser stopped in the method */
function isRequest(packet: Buffer | undefined, at: number): boolean {
  const text = packet?.toString('latin1') ?? '';
  return REQUEST_LINE.test(text.slice(text.lastIndexOf('\n', at - 1) + 1));
}

/** By hand: Node has no answer for what it could not parse. */
function answerOf(refusal: Refusal, requestId: string): string {
  const { headers, body } = refusalParts(refusal, requestId);
  const fields = Object.entries({ Date: new Date().toUTCString(), ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${fields.join('')}\r\n${body}`;
}
