import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { printableJson } from '../../domain/text.ts';
import { CountedResponse } from '../tls/http2-endpoint.ts';
import { remoteAddressBehind } from './remote-address.ts';
import { requestField } from './request.ts';

/** Contract section 2. Another one is a row here, and an app in `openListeners`. */
export const LISTENERS = {
  site: { section: 'server', receiveMsMax: 60_000 },
  api: { section: 'api', receiveMsMax: 60_000 },
  // 6 h is the largest bundle, 8 GiB, at 3 Mbit/s.
  admin: { section: 'admin', receiveMsMax: 6 * 3600_000 },
} as const satisfies Record<string, ListenerKind>;

interface ListenerKind {
  readonly section: string;
  readonly receiveMsMax: number;
}

export type ListenerName = keyof typeof LISTENERS;

export interface ServedRequest {
  readonly listener: ListenerName;
  /** Domain of the site that answered, on a shelf of many. */
  readonly site?: string | undefined;
  /** The version that it served. */
  readonly version?: string | undefined;
  /** `-` if the request was not HTTP. */
  readonly method: string;
  /** Without the query, which may hold a credential. */
  readonly path: string;
  /** 499, as in nginx, if the client left before the response. */
  readonly status: number;
  /** Headers included. */
  readonly bytes: number;
  /** From the end of its headers to the end of the answer. */
  readonly durationMs: number;
  readonly requestId: string;
  readonly peer: string;
  readonly forwardedFor: string | undefined;
  readonly userAgent?: string | undefined;
  /** As it came: it may hold a credential. */
  readonly referrer?: string | undefined;
}

const CLIENT_CLOSED = 499;

type Answerer = Pick<ServedRequest, 'site' | 'version'>;

const ANSWERER = Symbol('answerer');
type SitedRequest = IncomingMessage & { [ANSWERER]?: Answerer };

/** Records the site that responds, for log and metrics. */
export function tagRequest(incoming: SitedRequest, site: Answerer): void {
  incoming[ANSWERER] = site;
}

/** Records the version that responds instead of the active one. */
export function tagVersion(incoming: SitedRequest | undefined, version: string): void {
  if (incoming !== undefined) incoming[ANSWERER] = { site: incoming[ANSWERER]?.site, version };
}

/** Absolute form included (RFC 9112, section 3.2.2). */
export function pathOf(target: string): string {
  const path = target.startsWith('/') ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  const end = path.search(/[?#]/);
  return end < 0 ? path : path.slice(0, end);
}

const BYTES_TOLD = Symbol('bytes told');
/** With those up to the end of its last answer. */
type MeteredSocket = Socket & { [BYTES_TOLD]?: number };

interface Begun {
  readonly requestId: string;
  readonly startedMs: number;
}

export class RequestMeter {
  readonly #listener: ListenerName;
  readonly #tell: (served: ServedRequest) => void;

  constructor(listener: ListenerName, tell: (served: ServedRequest) => void) {
    this.#listener = listener;
    this.#tell = tell;
  }

  began(incoming: SitedRequest, outgoing: ServerResponse, { requestId, startedMs }: Begun): void {
    // A closed connection has no address, and a request that failed no connection.
    const { socket } = incoming;
    const peer = socket.remoteAddress ?? '';
    outgoing.once('close', () => {
      const status = outgoing.headersSent ? outgoing.statusCode : CLIENT_CLOSED;
      // Answers of HTTP/2 share their connection.
      const bytes = outgoing instanceof CountedResponse ? outgoing.bytesWritten : null;
      this.#ended(incoming, socket, status, { requestId, startedMs, peer }, bytes);
    });
  }

  /** An answer that has left already. */
  answered(incoming: SitedRequest, status: number, { requestId, startedMs }: Begun): void {
    const { socket } = incoming;
    this.#ended(incoming, socket, status, { requestId, startedMs, peer: socket.remoteAddress ?? '' });
  }

  malformed(socket: Socket, status: number, requestId: string): void {
    this.#tell({
      listener: this.#listener,
      method: '-',
      path: '-',
      status,
      bytes: this.#bytesSince(socket),
      durationMs: 0,
      requestId,
      peer: socket.remoteAddress ?? '',
      forwardedFor: undefined,
    });
  }

  #ended(
    { method, url, headers, [ANSWERER]: answerer }: SitedRequest,
    socket: Socket,
    status: number,
    { requestId, startedMs, peer }: Begun & { readonly peer: string },
    bytes: number | null = null,
  ): void {
    this.#tell({
      listener: this.#listener,
      site: answerer?.site,
      version: answerer?.version,
      method: method ?? '-',
      path: pathOf(url ?? '/'),
      status,
      bytes: bytes ?? this.#bytesSince(socket),
      durationMs: performance.now() - startedMs,
      requestId,
      peer,
      forwardedFor: requestField(headers, 'x-forwarded-for'),
      userAgent: headers['user-agent'],
      referrer: headers.referer,
    });
  }

  #bytesSince(socket: MeteredSocket): number {
    const written = socket.bytesWritten;
    const told = socket[BYTES_TOLD] ?? 0;
    socket[BYTES_TOLD] = written;
    return written - told;
  }
}

interface AccessLogOptions {
  /** Given the fields of a JSON object, without its braces. */
  readonly write: (fields: () => string) => void;
  readonly trustedProxies: readonly string[];
}

/** Maximum length of a client's text in a line: an address may have 16 KiB. */
const TEXT_LENGTH_MAX = 1024;
/** JSON escapes these, or a terminal acts on them. */
const ESCAPED = /["\\\u0000-\u001f\u007f-\u009f\u0600-\u0605\u061c\u06dd-\u206f\ud800-\udfff\ufeff-\uffff]/;

/**
 * Lines by hand: through a general serializer one cost as much processor time as the rest of its request. What is the same
 * from one request to the next is put together once.
 */
export function accessLog({ write, trustedProxies }: AccessLogOptions): (served: ServedRequest) => void {
  const remoteAddress = remoteAddressBehind(trustedProxies);
  const [agentField, siteField, versionField] = [lastField('userAgent'), lastField('site'), lastField('version')];
  // Named one by one: gathering the rest in an object cost a third of the line.
  const fieldsOf = ({
    listener,
    site,
    version,
    method,
    path,
    status,
    bytes,
    durationMs,
    requestId,
    peer,
    forwardedFor,
    userAgent,
    referrer,
  }: ServedRequest): string => {
    const pathText = quoted(shortened(path));
    const methodText = quoted(method);
    // Addresses and ids hold nothing that would have to be escaped.
    return (
      `"event":"request","listener":"${listener}"${siteField(site)}${versionField(version)}` +
      `,"method":${methodText},"status":${status},"bytes":${bytes},"requestId":"${requestId}","path":${pathText}` +
      `,"durationMs":${decimal(durationMs)},"remoteAddress":"${remoteAddress(peer, forwardedFor)}"` +
      `${agentField(userAgent)}${field('referrer', referrerOf(referrer))}` +
      `,"msg":"${methodText.slice(1, -1)} ${pathText.slice(1, -1)} ${status}"`
    );
  };
  return (served) => write(() => fieldsOf(served));
}

/** As `field`: what was made last is kept. */
function lastField(name: string): (text: string | undefined) => string {
  let last: string | undefined;
  let made = '';
  return (text) => {
    if (text !== last) made = field(name, text);
    last = text;
    return made;
  };
}

/** To the microsecond: of whole numbers, which are written faster than fractions. */
function decimal(ms: number): string {
  const us = Math.round(ms * 1000);
  const fraction = us % 1000;
  return `${(us - fraction) / 1000}.${fraction < 10 ? '00' : fraction < 100 ? '0' : ''}${fraction}`;
}

function field(name: string, text: string | undefined): string {
  return text === undefined ? '' : `,"${name}":${quoted(shortened(text))}`;
}

function quoted(text: string): string {
  return ESCAPED.test(text) ? printableJson(JSON.stringify(text)) : `"${text}"`;
}

function shortened(text: string): string {
  return text.length > TEXT_LENGTH_MAX ? `${text.slice(0, TEXT_LENGTH_MAX)}…` : text;
}

/** Without query and user information, which may be credentials. */
function referrerOf(header: string | undefined): string | undefined {
  const end = header?.search(/[?#]/) ?? -1;
  return (end === -1 ? header : header?.slice(0, end))?.replace(/\/\/[^/]*@/, '//');
}
