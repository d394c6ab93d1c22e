import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

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
  readonly site?: string;
  /** `-` where the request was no HTTP. */
  readonly method: string;
  /** Without the query, which may hold a credential. */
  readonly path: string;
  /** 499, as nginx has it, where the client left before the answer. */
  readonly status: number;
  /** Headers included. */
  readonly bytes: number;
  /** From the end of its headers to the end of the answer. */
  readonly durationMs: number;
  readonly requestId: string;
  readonly peer: string;
  readonly forwardedFor: string | undefined;
}

const CLIENT_CLOSED = 499;

const SITE = Symbol('site');

/** For log and metrics: the site that answers a request. */
export function tellSite(incoming: IncomingMessage & { [SITE]?: string }, site: string): void {
  incoming[SITE] = site;
}

/** Absolute form included (RFC 9112, section 3.2.2). */
export function pathOf(target: string): string {
  const path = target.startsWith('/') ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  const end = path.search(/[?#]/);
  return end < 0 ? path : path.slice(0, end);
}

export class RequestMeter {
  readonly #listener: ListenerName;
  readonly #tell: (served: ServedRequest) => void;
  /** Up to the end of the connection's last answer. */
  readonly #bytesTold = new WeakMap<Socket, number>();

  constructor(listener: ListenerName, tell: (served: ServedRequest) => void) {
    this.#listener = listener;
    this.#tell = tell;
  }

  began(incoming: IncomingMessage & { [SITE]?: string }, outgoing: ServerResponse, requestId: string): void {
    const startedMs = performance.now();
    const { socket } = incoming;
    // A closed connection has no address.
    const peer = socket.remoteAddress ?? '';
    outgoing.once('close', () => {
      const forwardedFor = incoming.headers['x-forwarded-for'];
      const site = incoming[SITE];
      this.#tell({
        listener: this.#listener,
        ...(site === undefined ? {} : { site }),
        method: incoming.method ?? '-',
        path: pathOf(incoming.url ?? '/'),
        status: outgoing.headersSent ? outgoing.statusCode : CLIENT_CLOSED,
        bytes: this.#bytesSince(socket),
        durationMs: performance.now() - startedMs,
        requestId,
        peer,
        forwardedFor: Array.isArray(forwardedFor) ? forwardedFor.join(', ') : forwardedFor,
      });
    });
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

  #bytesSince(socket: Socket): number {
    const written = socket.bytesWritten;
    const told = this.#bytesTold.get(socket) ?? 0;
    this.#bytesTold.set(socket, written);
    return written - told;
  }
}
