import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PlainAnswer } from '../../serve/index.ts';
import { hostsIn, isHttp2, refusalOf, TARGET_LENGTH_MAX } from './refused-request.ts';
import { REQUEST_ID_HEADER } from './request-id.ts';

export const HSTS_HEADER = 'Strict-Transport-Security';

/** A host name or an IPv4 address, as nearly all requests have; the framework judges the others. */
const PLAIN_HOST = /^[A-Za-z0-9._-]+(?::\d{1,5})?$/;

/**
 * A GET of HTTP/1.1 or HTTP/2 without a body, by its headers, which nothing refuses, and whose answer needs not wait for
 * another one of its connection.
 */
export function isPlainRequest(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
  const { method, url, httpVersion, headers } = incoming;
  if (method !== 'GET' || outgoing.socket === null || headers['content-length'] !== undefined) return false;
  // Its response may be another than that of the address (`forWorker`).
  if (headers['service-worker'] !== undefined) return false;
  if (httpVersion !== '1.1') return isHttp2(incoming) && refusalOf(incoming) === null;
  return isPlainTarget(url) && headers['transfer-encoding'] === undefined && hasPlainHost(incoming);
}

const isPlainTarget = (url = ''): boolean => url.startsWith('/') && url.length <= TARGET_LENGTH_MAX;

function hasPlainHost({ headers, rawHeaders }: IncomingMessage): boolean {
  return PLAIN_HOST.test(headers.host ?? '') && hostsIn(rawHeaders) === 1;
}

/** Headers that the listener adds to every response. */
interface AddedFields {
  readonly requestId: string;
  /** Null: not sent. */
  readonly hsts: string | null;
}

/** Writes a prepared response. Node validates and frames it. */
export function writePrepared(
  { status, headers, body }: PlainAnswer,
  outgoing: ServerResponse,
  { requestId, hsts }: AddedFields,
): void {
  const fields = headers.concat(REQUEST_ID_HEADER, requestId);
  if (hsts !== null) fields.push(HSTS_HEADER, hsts);
  outgoing.writeHead(status, fields);
  outgoing.end(body ?? undefined);
}
