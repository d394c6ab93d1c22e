import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Client, ClientBudget, HeldAnswer } from './client-budget.ts';

/** Time for a request that is on its way while the connection closes. Without it, the request would get no response. */
const UNDERWAY_MS = 500;
export const LINGER_MS = 2_000;

/** Replaces Node's `closeIdleConnections`, which leaves unused connections and those whose response began before the close. */
export class Connections {
  isDraining = false;
  readonly #owed = new Map<Socket, Map<ServerResponse, HeldAnswer>>();
  /** Prepared responses are missing here, because their requests have no body. */
  readonly #latest = new WeakMap<Socket, ServerResponse>();
  readonly #former = new WeakMap<ServerResponse, ServerResponse>();
  readonly #afterPacket = new WeakMap<ServerResponse, () => void>();
  readonly #budget: ClientBudget;

  constructor(server: Server, budget: ClientBudget) {
    this.#budget = budget;
    // Only idle connections end here. The budget ends unread responses, and a response may take longer to create.
    server.on('timeout', (socket: Socket) => {
      if (!this.#owes(socket)) socket.destroy();
    });
    // `close` calls this function, which would cut responses that are written and not yet read.
    server.closeIdleConnections = () => undefined;
    server.on('connection', (socket) => {
      this.#owed.set(socket, new Map());
      // Node never closes responses that queue behind another one.
      socket.once('close', () => {
        for (const held of this.#owed.get(socket)?.values() ?? []) held.end();
        this.#owed.delete(socket);
      });
    });
  }

  /** Null if the connection already owes too many responses. */
  began(answer: ServerResponse): HeldAnswer | null {
    const { socket } = answer.req;
    const owed = this.#owed.get(socket);
    const held = owed === undefined ? null : this.#budget.answer(socket, socket, clientOf(answer), owed.size === 0);
    if (owed === undefined || held === null) return null;
    const latest = this.#latest.get(socket);
    if (latest !== undefined && owed.has(latest)) this.#former.set(answer, latest);
    owed.set(answer, held);
    this.#latest.set(socket, answer);
    if (this.isDraining && !answer.headersSent) answer.setHeader('Connection', 'close');
    answer.once('close', () => {
      held.end();
      owed.delete(answer);
      if (this.isDraining && owed.size === 0) socket.destroySoon();
    });
    return held;
  }

  /** Calls `act` when the previous responses are sent, because an earlier response would wait in memory. */
  whenPreviousSent(answer: ServerResponse, act: () => void): void {
    const { socket } = answer.req;
    const former = this.#former.get(answer);
    const again = (): void => this.whenPreviousSent(answer, act);
    if (answer.socket !== null) act();
    else if (former !== undefined && this.#owed.get(socket)?.has(former) === true) former.once('close', again);
    // Node has not yet noted that a prepared response was sent.
    else if (!socket.destroyed) setImmediate(again);
  }

  /** Calls `act` when the parser has read the rest of its packet. If the packet contains the whole body, the connection stays open. */
  afterPacket(answer: ServerResponse, act: () => void): void {
    closeIfIncomplete(answer);
    this.#afterPacket.set(answer, act);
    setImmediate(() => this.#now(answer));
  }

  /** Responds to the latest request before the parser's error ends the connection. */
  respondNow(socket: Socket): void {
    const latest = this.#latest.get(socket);
    if (latest !== undefined) this.#now(latest);
  }

  #now(answer: ServerResponse): void {
    const act = this.#afterPacket.get(answer);
    this.#afterPacket.delete(answer);
    act?.();
  }

  #owes(socket: Socket): boolean {
    return (this.#owed.get(socket)?.size ?? 0) > 0;
  }

  incompleteOf(socket: Socket): ServerResponse | undefined {
    const latest = this.#latest.get(socket);
    return latest?.req.complete === false ? latest : undefined;
  }

  whenIdle(socket: Socket, act: () => void): void {
    const [answer] = this.#owed.get(socket)?.keys() ?? [];
    if (answer === undefined) act();
    else answer.once('close', () => this.whenIdle(socket, act));
  }

  drain(): void {
    this.isDraining = true;
    for (const answers of this.#owed.values()) {
      for (const answer of answers.keys()) if (!answer.headersSent) answer.setHeader('Connection', 'close');
    }
    setTimeout(() => {
      for (const [socket, answers] of this.#owed) if (answers.size === 0) socket.destroySoon();
    }, UNDERWAY_MS).unref();
  }

  cut(): void {
    for (const socket of this.#owed.keys()) socket.destroy();
  }
}

/** A response that precedes the end of its request must be the last of its connection. */
function closeIfIncomplete(answer: ServerResponse): void {
  const { req, writeHead } = answer;
  answer.writeHead = (...given: unknown[]): typeof answer => {
    if (!req.complete) {
      answer.setHeader('Connection', 'close');
      linger(req.socket);
    }
    return writeHead.apply(answer, given as Parameters<typeof writeHead>);
  };
}

/** Continues reading for a while after the last response: a reset would discard the response of a client that still sends. */
function linger(socket: Socket): void {
  let isLeaving = false;
  socket.destroySoon = () => {
    if (isLeaving) return;
    isLeaving = true;
    socket.end();
    const late = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(late));
  };
}

/** Only the first response of a connection is written to the socket. */
function clientOf(answer: ServerResponse): Client {
  const { socket } = answer.req;
  return {
    unreadBytes: () => (answer.socket === null ? 0 : socket.writableLength),
    readBytes: () => socket.bytesWritten - socket.writableLength,
    sentBytes: () => (answer.req.complete ? null : socket.bytesRead),
    cut: () => socket.destroy(),
  };
}
