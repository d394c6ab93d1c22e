import {
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
  validateHeaderName,
  validateHeaderValue,
} from 'node:http';
import type { Socket } from 'node:net';
import type { PlainAnswer } from '../../serve/index.ts';
import { HEADER_BYTES_MAX, isHttp2, TARGET_LENGTH_MAX } from './refused-request.ts';
import { REQUEST_ID_HEADER } from './request-id.ts';
import type { SitedRequest } from './served-request.ts';

export const HSTS_HEADER = 'Strict-Transport-Security';

/** A host name or an IPv4 address, as nearly all requests have; the framework judges the others. */
const PLAIN_HOST = /^[A-Za-z0-9._-]+(?::\d{1,5})?$/;

/** Of all that a request says, what a prepared answer may depend on, and what the log tells. */
export type PlainRequest = SitedRequest & Pick<IncomingMessage, 'headers' | 'socket'>;

interface Field {
  /** As it is mostly written: comparing makes nothing, where a look-up by name has each one hashed. */
  readonly usual: string;
  readonly lower: string;
  /** Index in what is read; -1: answers to it are not prepared. */
  readonly slot: number;
}

/** In the order of their slots: what a prepared answer depends on, and what the log tells. */
const READ = [
  'Host',
  'Accept-Encoding',
  'If-None-Match',
  REQUEST_ID_HEADER,
  'User-Agent',
  'Referer',
  'X-Forwarded-For',
];
const UNPREPARED = ['Range', 'If-Match', 'If-Unmodified-Since', 'Content-Length', 'Transfer-Encoding', 'Expect'];
const FIELDS: readonly Field[] = [
  ...READ.map((usual, slot) => ({ usual, lower: usual.toLowerCase(), slot })),
  ...UNPREPARED.map((usual) => ({ usual, lower: usual.toLowerCase(), slot: -1 })),
  { usual: ':authority', lower: ':authority', slot: 0 },
];
const BY_LENGTH: (readonly Field[] | undefined)[] = Array.from({ length: 32 }, (_, length) => {
  const same = FIELDS.filter(({ lower }) => lower.length === length);
  return same.length > 0 ? same : undefined;
});

function fieldOf(name: string): Field | undefined {
  const same = BY_LENGTH[name.length];
  if (same === undefined) return undefined;
  for (const field of same) if (name === field.usual || name === field.lower) return field;
  const lower = name.toLowerCase();
  return same.find((field) => lower === field.lower);
}

/**
 * A GET of HTTP/1.1 or HTTP/2 without a body, by its headers, whose answer needs not wait for another one of its connection;
 * null for others. Read in one pass: Node's `headers` makes an object of all fields, a fifth of what a 304 costs.
 */
export function plainRequestOf(incoming: IncomingMessage, outgoing: ServerResponse): PlainRequest | null {
  const { method, url, httpVersion, rawHeaders, socket } = incoming;
  if (method !== 'GET' || url === undefined || url.length > TARGET_LENGTH_MAX || outgoing.socket === null) return null;
  const isOfHttp2 = isHttp2(incoming);
  if (!url.startsWith('/') || (!isOfHttp2 && httpVersion !== '1.1')) return null;
  const read: (string | undefined)[] = [undefined, undefined, undefined, undefined, undefined, undefined, undefined];
  let bytes = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    const value = rawHeaders[at + 1] ?? '';
    bytes += name.length + value.length;
    const field = fieldOf(name);
    if (field === undefined) continue;
    // How two are read together goes by the field.
    if (field.slot < 0 || read[field.slot] !== undefined) return null;
    read[field.slot] = value;
  }
  const host = read[0];
  if (host === undefined || !PLAIN_HOST.test(host)) return null;
  // Node bounds those of HTTP/2 once the client has agreed to it.
  if (isOfHttp2 && bytes > HEADER_BYTES_MAX) return null;
  const headers = {
    host,
    'accept-encoding': read[1],
    'if-none-match': read[2],
    'x-request-id': read[3],
    'user-agent': read[4],
    referer: read[5],
    'x-forwarded-for': read[6],
  };
  return { method, url, headers, socket };
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

  /** One write of one buffer costs a third less than Node's of two. False where it is none: nothing is written. */
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
