import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PlainAnswer } from '../../serve/index.ts';
import { REQUEST_ID_HEADER } from './request-id.ts';

/** A host name or an IPv4 address, as nearly all requests have; the framework judges the others. */
const PLAIN_HOST = /^[A-Za-z0-9._-]+(?::\d{1,5})?$/;

/** A GET of HTTP/1.1 without a body, by its headers, whose answer needs not wait for another one of its connection. */
export function isPlainRequest({ method, httpVersion, headers }: IncomingMessage, outgoing: ServerResponse): boolean {
  return (
    method === 'GET' &&
    httpVersion === '1.1' &&
    outgoing.socket !== null &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined &&
    PLAIN_HOST.test(headers.host ?? '')
  );
}

export function writePlain({ status, headers, body }: PlainAnswer, outgoing: ServerResponse, requestId: string): void {
  outgoing.writeHead(status, [...headers, REQUEST_ID_HEADER, requestId]);
  if (body === null) outgoing.end();
  else outgoing.end(body);
}
