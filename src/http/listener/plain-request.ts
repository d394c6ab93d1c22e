import {
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
  validateHeaderName,
  validateHeaderValue,
} from 'node:http';
import type { PlainAnswer } from '../../serve/index.ts';
import { REQUEST_ID_HEADER } from './request-id.ts';

/** A host name or an IPv4 address, as nearly all requests have; the framework judges the others. */
const PLAIN_HOST = /^[A-Za-z0-9._-]+(?::\d{1,5})?$/;

/** A GET of HTTP/1.1 or HTTP/2 without a body, by its headers, whose answer needs not wait for another one of its connection. */
export function isPlainRequest({ method, httpVersion, headers }: IncomingMessage, outgoing: ServerResponse): boolean {
  return (
    method === 'GET' &&
    (httpVersion === '1.1' || httpVersion === '2.0') &&
    outgoing.socket !== null &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined &&
    PLAIN_HOST.test(headers.host ?? '')
  );
}

/** Node's own place for a head, which no types tell of: null until one is made. */
type Headed = ServerResponse & { _header?: string | null };

/**
 * Writes prepared answers under heads that are composed here: Node looks each field through again for each answer, which
 * is a quarter of what one costs. Their framing, and all that follows them on the connection, is Node's.
 */
export class PlainWriter {
  readonly #heads = new WeakMap<readonly string[], string>();
  readonly #keepAlive: string;
  #dateS = 0;
  #date = '';

  constructor(keepAliveMs: number) {
    this.#keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n\r\n`;
  }

  write({ status, headers, body }: PlainAnswer, outgoing: Headed, requestId: string): void {
    const isBare = outgoing._header === null && outgoing.getHeaderNames().length === 0;
    if (isBare && outgoing.shouldKeepAlive) {
      outgoing.statusCode = status;
      outgoing._header = `${this.#headOf(status, headers)}${requestId}${this.#dateField()}${this.#keepAlive}`;
    } else outgoing.writeHead(status, [...headers, REQUEST_ID_HEADER, requestId]);
    if (body === null) outgoing.end();
    else outgoing.end(body);
  }

  /** Up to the value of the request id. */
  #headOf(status: PlainAnswer['status'], headers: readonly string[]): string {
    const made = this.#heads.get(headers);
    if (made !== undefined) return made;
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
    for (let at = 0; at < headers.length; at += 2) {
      const [name = '', value = ''] = headers.slice(at, at + 2);
      validateHeaderName(name);
      validateHeaderValue(name, value);
      head += `${name}: ${value}\r\n`;
    }
    head += `${REQUEST_ID_HEADER}: `;
    this.#heads.set(headers, head);
    return head;
  }

  #dateField(): string {
    const nowMs = Date.now();
    const nowS = Math.floor(nowMs / 1000);
    if (nowS !== this.#dateS) this.#date = `\r\nDate: ${new Date(nowMs).toUTCString()}\r\n`;
    this.#dateS = nowS;
    return this.#date;
  }
}
