import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { printableJson } from '../../domain/text.ts';
import { CountedResponse } from '../tls/http2-endpoint.ts';
import { remoteAddressBehind } from './request.ts';

/** Listeners by name. For a new listener, add a row here and an app in `openListeners`. */
export const LISTENERS = {
  site: { section: 'server', receiveMsMax: 60_000 },
  api: { section: 'api', receiveMsMax: 60_000 },
  // Maximum time to receive a request. Suffices for the largest bundle (8 GiB) at 3 Mbit/s.
  admin: { section: 'admin', receiveMsMax: 6 * 3600_000 },
} as const satisfies Record<string, { readonly section: string; readonly receiveMsMax: number }>;

export type ListenerName = keyof typeof LISTENERS;

export interface ServedRequest {
  readonly listener: ListenerName;
  readonly site?: string | undefined;
  readonly version?: string | undefined;
  readonly method: string;
  /** Path without the query, because a query can contain a credential. */
  readonly path: string;
  /** Status of the response. As in nginx, 499 means that the client disconnected before the response. */
  readonly status: number;
  /** Bytes of the response, including its headers. */
  readonly bytes: number;
  readonly durationMs: number;
  readonly requestId: string;
  readonly peer: string;
  readonly forwardedFor: string | undefined;
  readonly userAgent?: string | undefined;
  /** Referer header as received. It can contain a credential. */
  readonly referrer?: string | undefined;
}

const CLIENT_CLOSED = 499;

type Answerer = Pick<ServedRequest, 'site' | 'version'>;

const ANSWERER = Symbol('answerer');
type SitedRequest = IncomingMessage & { [ANSWERER]?: Answerer };

export function tagRequest(incoming: SitedRequest, site: Answerer): void {
  incoming[ANSWERER] = site;
}

export function tagVersion(incoming: SitedRequest | undefined, version: string): void {
  if (incoming !== undefined) incoming[ANSWERER] = { site: incoming[ANSWERER]?.site, version };
}

export function pathOf(target: string): string {
  const path = target.startsWith('/') ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  const end = path.search(/[?#]/);
  return end < 0 ? path : path.slice(0, end);
}

const BYTES_LOGGED = Symbol('bytes logged');
interface Begun {
  readonly requestId: string;
  readonly startedMs: number;
  /** Address of the client's socket. Read it at the start of the request, because a closed socket has no address. */
  readonly peer: string;
}

export class RequestMeter {
  readonly #listener: ListenerName;
  readonly #tell: (served: ServedRequest) => void;

  constructor(listener: ListenerName, tell: (served: ServedRequest) => void) {
    this.#listener = listener;
    this.#tell = tell;
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

  ended(incoming: SitedRequest, outgoing: ServerResponse, { requestId, startedMs, peer }: Begun): void {
    const { method, url, headers, socket, [ANSWERER]: answerer } = incoming;
    this.#tell({
      listener: this.#listener,
      site: answerer?.site,
      version: answerer?.version,
      method: method ?? '-',
      path: pathOf(url ?? '/'),
      status: outgoing.headersSent ? outgoing.statusCode : CLIENT_CLOSED,
      // Several HTTP/2 responses share one socket, so count their bytes separately.
      bytes: outgoing instanceof CountedResponse ? outgoing.bytesWritten : this.#bytesSince(socket),
      durationMs: performance.now() - startedMs,
      requestId,
      peer,
      forwardedFor: headers['x-forwarded-for']?.toString(),
      userAgent: headers['user-agent'],
      referrer: headers.referer,
    });
  }

  #bytesSince(socket: Socket & { [BYTES_LOGGED]?: number }): number {
    const written = socket.bytesWritten;
    const logged = socket[BYTES_LOGGED] ?? 0;
    socket[BYTES_LOGGED] = written;
    return Math.max(0, written - logged);
  }
}

/** Maximum length of a client's text in a log line, because a client can send an address of 16 KiB. */
const TEXT_LENGTH_MAX = 1024;
const ESCAPED = /["\\\u0000-\u001f\u007f-\u009f\u0600-\u0605\u061c\u06dd-\u206f\ud800-\udfff\ufeff-\uffff]/;

/**
 * Returns a function that writes the fields of a log line as JSON. A serializer would take as much time as the rest of a request.
 */
export function accessLog(trustedProxies: readonly string[]): (served: ServedRequest) => string {
  const remoteAddress = remoteAddressBehind(trustedProxies);
  const [siteField, versionField] = [lastField('site'), lastField('version')];
  const [agentField, referrerField] = [lastField('userAgent'), lastField('referrer')];
  // List each member. Collecting the members in a rest parameter took a third of the time for a log line (measured).
  return ({
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
  }) => {
    const pathText = quoted(path);
    const methodText = quoted(method);
    // Format milliseconds with three decimals from whole microseconds, which is faster than formatting a fraction.
    const us = Math.round(durationMs * 1000);
    const fraction = us % 1000;
    const zeros = fraction < 10 ? '00' : fraction < 100 ? '0' : '';
    // Remove the query and the user information from the referrer, because they can be credentials.
    const shownReferrer = referrer?.replace(/[?#].*$/s, '').replace(/\/\/[^/]*@/, '//');
    return (
      `"event":"request","listener":"${listener}"${siteField(site)}${versionField(version)}` +
      `,"method":${methodText},"status":${status},"bytes":${bytes},"requestId":"${requestId}","path":${pathText}` +
      `,"durationMs":${(us - fraction) / 1000}.${zeros}${fraction},"remoteAddress":"${remoteAddress(peer, forwardedFor)}"` +
      `${agentField(userAgent)}${referrerField(shownReferrer)}` +
      `,"msg":"${methodText.slice(1, -1)} ${pathText.slice(1, -1)} ${status}"`
    );
  };
}

function lastField(name: string): (text: string | undefined) => string {
  let last: string | undefined;
  let made = '';
  return (text) => {
    if (text !== last) made = text === undefined ? '' : `,"${name}":${quoted(text)}`;
    last = text;
    return made;
  };
}

function quoted(text: string): string {
  const shown = text.length > TEXT_LENGTH_MAX ? `${text.slice(0, TEXT_LENGTH_MAX)}…` : text;
  return ESCAPED.test(shown) ? printableJson(JSON.stringify(shown)) : `"${shown}"`;
}
