import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Connections } from './connections.ts';
import { REQUEST_ID_HEADER, requestIdFrom } from './request-id.ts';
import type { RequestMeter } from './served-request.ts';

/** What Node's parser and its clocks call their faults; any other is 400. */
const STATUS_BY_FAULT: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** The client has left in the middle of a request, one that was answered already or one that nobody waits for. */
const CLIENT_LEFT = new Set(['ECONNRESET', 'EPIPE', 'HPE_INVALID_EOF_STATE']);

/** Answers what is no HTTP request, or never becomes one, with a status and nothing else, and closes the connection. */
export function answerMalformed(
  connections: Connections,
  meter: RequestMeter | null,
): (error: NodeJS.ErrnoException, socket: Duplex) => void {
  return (error, duplex) => {
    const socket = duplex as Socket;
    // A connection that was never used is no fault, and where an answer is under way another one would garble it.
    const isUnused = socket.bytesRead === 0;
    if (!socket.writable || isUnused || CLIENT_LEFT.has(error.code ?? '') || connections.isBusy(socket)) {
      socket.destroy();
      return;
    }
    const status = STATUS_BY_FAULT[error.code ?? ''] ?? 400;
    const requestId = requestIdFrom(undefined);
    socket.write(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n${REQUEST_ID_HEADER}: ${requestId}\r\n\r\n`,
    );
    meter?.malformed(socket, status, requestId);
    socket.destroySoon();
  };
}
