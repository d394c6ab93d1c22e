import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { DocshelfError } from '../../domain/errors.ts';
import { problemOf } from '../problem.ts';
import type { Connections } from './connections.ts';
import { REQUEST_ID_HEADER, requestIdFrom } from './request-id.ts';
import type { RequestMeter } from './served-request.ts';

interface Malformed {
  readonly status: number;
  readonly state: string;
}

const BY_FAULT: Readonly<Record<string, Malformed>> = {
  HPE_HEADER_OVERFLOW: { status: 431, state: 'its header is over the limit' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, state: 'the extensions of its chunks are over the limit' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, state: 'it did not come whole within the time limit' },
};
const NO_HTTP: Malformed = { status: 400, state: 'it is not well-formed HTTP/1.1' };

const CLIENT_LEFT = new Set(['ECONNRESET', 'EPIPE', 'HPE_INVALID_EOF_STATE']);

export function answerMalformed(
  connections: Connections,
  meter: RequestMeter | null,
): (error: NodeJS.ErrnoException, socket: Duplex) => void {
  return (error, duplex) => {
    const socket = duplex as Socket;
    // An unused connection is no fault, and another answer under way would be garbled.
    const isUnused = socket.bytesRead === 0;
    if (!socket.writable || isUnused || CLIENT_LEFT.has(error.code ?? '') || connections.isBusy(socket)) {
      socket.destroy();
      return;
    }
    const { status, state } = BY_FAULT[error.code ?? ''] ?? NO_HTTP;
    const requestId = requestIdFrom(undefined);
    socket.write(answerOf(status, state, requestId));
    meter?.malformed(socket, status, requestId);
    socket.destroySoon();
  };
}

/** By hand: Node has no answer for what it could not parse. */
function answerOf(status: number, state: string, requestId: string): string {
  const title = STATUS_CODES[status] ?? 'Error';
  const fault = new DocshelfError('bad_request', `Cannot read the request: ${state}`);
  const body = `${JSON.stringify({ ...problemOf(fault, requestId), status, title })}\n`;
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    'Connection: close',
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    `${REQUEST_ID_HEADER}: ${requestId}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
