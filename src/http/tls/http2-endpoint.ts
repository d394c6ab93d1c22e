import type { EventEmitter } from 'node:events';
import {
  constants,
  createServer,
  type Http2ServerRequest,
  Http2ServerResponse,
  type Http2Session,
  type Http2Stream,
  type ServerOptions,
} from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Client, ClientBudget, HeldAnswer, Peer } from '../listener/client-budget.ts';

export interface Http2Options {
  readonly budget: ClientBudget;
  readonly headerBytesMax: number;
  readonly idleMsMax: number;
  readonly receiveMsMax: number;
  readonly onRequest: (incoming: Http2ServerRequest, outgoing: CountedResponse) => void;
}

/** Maximum concurrent streams, the same as in nginx and Apache. Browsers use fewer. */
const STREAMS_MAX = 128;
/** Maximum header fields of a request. Each field, even a short one, needs an allocation. */
const FIELDS_MAX = 200;
/** Limits for canceled streams. A reader who leaves a page cancels its requests, but fewer per second than these limits. */
const RESETS = { streamResetBurst: 512, streamResetRate: 64 };
const SESSION_MB_MAX = 8;

export class CountedResponse extends Http2ServerResponse {
  #bodyBytes = 0;

  get bodyBytes(): number {
    return this.#bodyBytes;
  }

  get bytesWritten(): number {
    const fields = Object.entries(this.stream.sentHeaders ?? {});
    return fields.reduce((sum, [name, value]) => sum + name.length + String(value).length + 32, this.#bodyBytes);
  }

  // biome-ignore lint/suspicious/noExplicitAny: Node's own overloads
  override writeHead(status: number, ...rest: any[]): this {
    const headers = rest.at(-1);
    if (typeof headers !== 'object' || Array.isArray(headers)) return super.writeHead(status, ...rest);
    // Remove the header `Connection`, which HTTP/2 forbids (RFC 9113, section 8.2.2). GOAWAY ends connections instead.
    const { connection: _, Connection: __, ...fit } = headers;
    return super.writeHead(status, fit);
  }

  // biome-ignore lint/suspicious/noExplicitAny: Node's own overloads
  override write(chunk: any, ...rest: any[]): boolean {
    if (this.req.method !== 'HEAD') this.#bodyBytes += Buffer.byteLength(chunk);
    return super.write(chunk, ...(rest as []));
  }
}

export class Http2Endpoint {
  readonly #server: EventEmitter;
  readonly #options: Http2Options;
  readonly #sessions = new Map<Http2Session, { streams: number; readonly peer: Peer }>();
  #isDraining = false;

  constructor(options: Http2Options) {
    this.#options = options;
    this.#server = createServer({
      settings: { maxConcurrentStreams: STREAMS_MAX, maxHeaderListSize: options.headerBytesMax },
      maxHeaderListPairs: FIELDS_MAX,
      maxSessionMemory: SESSION_MB_MAX,
      ...RESETS,
      Http2ServerResponse: CountedResponse,
    } as ServerOptions);
    this.#server.on('session', (session: Http2Session) => this.#follow(session));
    this.#server.on('stream', (stream: Http2Stream) => this.#bound(stream));
    for (const event of ['request', 'checkContinue', 'checkExpectation', 'connect']) {
      this.#server.on(event, options.onRequest);
    }
  }

  accept(socket: TLSSocket): void {
    // Destroy the socket after its last write, because a client may never end its half of the connection.
    socket.once('finish', () => socket.destroy());
    this.#server.emit('connection', socket);
  }

  /** Registers a response. Null if the budget has no room; the client can then retry the request. */
  began(incoming: Http2ServerRequest, outgoing: CountedResponse): HeldAnswer | null {
    const { session } = incoming.stream;
    const known = session && this.#sessions.get(session);
    const held =
      known === undefined ? null : this.#options.budget.answer(known, known.peer, clientOf(incoming, outgoing), false);
    if (held === null) incoming.stream.close(REFUSED);
    else incoming.stream.once('close', () => held.end());
    return held;
  }

  /** Sends GOAWAY. Requests in flight can end, but the client must send new requests on another connection. */
  drain(): void {
    this.#isDraining = true;
    for (const session of this.#sessions.keys()) end(session);
  }

  #follow(session: Http2Session): void {
    const { remoteAddress, remotePort, localPort } = session.socket;
    this.#sessions.set(session, { streams: 0, peer: { remoteAddress, remotePort, localPort } });
    session.once('close', () => this.#sessions.delete(session));
    session.setTimeout(this.#options.idleMsMax, () => {
      if (this.#sessions.get(session)?.streams === 0) end(session);
    });
    if (this.#isDraining) end(session);
  }

  #bound(stream: Http2Stream): void {
    const { session } = stream;
    if (session === undefined) return;
    this.#count(session, 1);
    const late = setTimeout(() => {
      if (!stream.readableEnded) stream.close(CANCEL);
    }, this.#options.receiveMsMax);
    stream.once('close', () => {
      clearTimeout(late);
      this.#count(session, -1);
    });
  }

  #count(session: Http2Session, by: number): void {
    const known = this.#sessions.get(session);
    if (known !== undefined) known.streams += by;
  }
}

const { NGHTTP2_CANCEL: CANCEL, NGHTTP2_REFUSED_STREAM: REFUSED } = constants;
const CUT_MS = 1_000;

function clientOf({ stream }: Http2ServerRequest, outgoing: CountedResponse): Client {
  return {
    unreadBytes: () => stream.writableLength,
    readBytes: () => outgoing.bodyBytes - stream.writableLength,
    sentBytes: () => (stream.endAfterHeaders || stream.readableEnded ? null : (stream.state.localWindowSize ?? 0)),
    cut: () => {
      const { session } = stream;
      stream.close(CANCEL);
      // Destroy the connection if the stream stays open, because a client that reads nothing does not get the end of the stream.
      const late = setTimeout(() => session?.destroy(), CUT_MS).unref();
      stream.once('close', () => clearTimeout(late));
    },
  };
}

function end(session: Http2Session): void {
  if (!session.closed && !session.destroyed) session.close();
}
