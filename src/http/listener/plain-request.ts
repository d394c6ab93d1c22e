import {
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
  validateHeaderName,
  validateHeaderValue,
} from 'node:http';
import type { Socket } from 'node:net';
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

/** Node's own place for a head, which no types tell of: null until one is made. */
type Headed = ServerResponse & { _header?: string | null; _headerSent?: boolean };

const isUntouched = (outgoing: Headed): boolean => outgoing._header === null && outgoing.getHeaderNames().length === 0;

/** To the answer's own. */
interface AddedFields {
  readonly requestId: string;
  /** Null: not sent. */
  readonly hsts: string | null;
}

/** With its head. Larger ones are written from where they lie. */
const JOINED_BYTES_MAX = 32 * 1024;
/** Of slow clients: 8 MiB. */
const LENT_MAX = 256;

/**
 * Writes prepared answers under heads that are composed here: Node looks each field through again for each answer, which
 * is a quarter of what one costs. Their framing, and all that follows them on the connection, is Node's.
 */
export class PlainWriter {
  readonly #heads = new WeakMap<readonly string[], string>();
  readonly #keepAlive: string;
  /** Where head and body of the next answer are joined. */
  #joined: Buffer | null = null;
  #lent = 0;
  #dateS = 0;
  #date = '';

  constructor(keepAliveMs: number) {
    this.#keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n\r\n`;
  }

  write({ status, headers, body }: PlainAnswer, outgoing: Headed, { requestId, hsts }: AddedFields): void {
    const { socket } = outgoing;
    if (socket === null || !outgoing.shouldKeepAlive || !isUntouched(outgoing)) {
      const added = [...(hsts === null ? [] : [HSTS_HEADER, hsts]), REQUEST_ID_HEADER, requestId];
      outgoing.writeHead(status, [...headers, ...added]).end(body ?? undefined);
      return;
    }
    const security = hsts === null ? '' : `${HSTS_HEADER}: ${hsts}\r\n`;
    outgoing.statusCode = status;
    outgoing._header = `${this.#headOf(status, headers)}${requestId}${this.#dateField()}${security}${this.#keepAlive}`;
    if (body === null) outgoing.end();
    else if (this.#writeJoined(outgoing._header, body, socket)) {
      outgoing._headerSent = true;
      outgoing.end();
    } else outgoing.end(body);
  }

  /** One write of one buffer, where Node makes two: an answer of 19 KB took 36 µs of a processor for 44 (measured). False where it is none: nothing is written. */
  #writeJoined(head: string, body: Buffer, socket: Socket): boolean {
    const size = head.length + body.length;
    // TLS keeps what it is given until it is sent.
    if (size > JOINED_BYTES_MAX || this.#lent >= LENT_MAX || 'encrypted' in socket) return false;
    const joined = this.#joined ?? Buffer.allocUnsafeSlow(JOINED_BYTES_MAX);
    joined.write(head, 'latin1');
    body.copy(joined, head.length);
    socket.write(joined.subarray(0, size));
    const isSent = socket.writableLength === 0;
    this.#joined = isSent ? joined : null;
    if (!isSent) {
      this.#lent++;
      socket.write('', () => {
        this.#lent--;
      });
    }
    return true;
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
    // As one string: joined as it is here, each write would go through all of its parts again.
    const flat = Buffer.from(`${head}${REQUEST_ID_HEADER}: `, 'latin1').toString('latin1');
    this.#heads.set(headers, flat);
    return flat;
  }

  #dateField(): string {
    const nowMs = Date.now();
    const nowS = Math.floor(nowMs / 1000);
    if (nowS !== this.#dateS) this.#date = `\r\nDate: ${new Date(nowMs).toUTCString()}\r\n`;
    this.#dateS = nowS;
    return this.#date;
  }
}
