import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Client, ClientBudget, HeldAnswer } from './client-budget.ts';

/** Milliseconds to keep idle connections open at a stop, so that requests in transit still get a response. */
const UNDERWAY_MS = 500;
export const LINGER_MS = 2_000;

/**
 * Open connections, which the listener closes when it stops. Node's `closeIdleConnections` is not enough: it leaves connections open that
 * had no request, or whose response began before the listener stopped.
 */
export class Connections {
  readonly #owed = new Map<Socket, Map<ServerResponse, HeldAnswer>>();
  /** Latest response of each connection. Omits responses prepared in memory, which never wait for the body of a request. */
  readonly #latest = new WeakMap<Socket, ServerResponse>();
  readonly #former = new WeakMap<ServerResponse, ServerResponse>();
  readonly #afterPacket = new WeakMap<ServerResponse, () => void>();
  readonly #budget: ClientBudget;
  #isDraining = false;

  constructor(server: Server, budget: ClientBudget) {
    this.#budget = budget;
    // Keep a connection with a pending response, because creating a response can take longer than the server's timeout.
    server.on('timeout', (socket: Socket) => {
      if (!this.#owes(socket)) socket.destroy();
    });
    // Disable `closeIdleConnections`: `server.close` calls it, and it destroys connections whose clients have not read the
    // response.
    server.closeIdleConnections = () => undefined;
    server.on('connection', (socket) => {
      this.#owed.set(socket, new Map());
      // End the reservations of queued responses in the budget, because Node emits no `close` for these responses.
      socket.once('close', () => {
        for (const held of this.#owed.get(socket)?.values() ?? []) held.end();
        this.#owed.delete(socket);
      });
    });
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Registers a response. Null if the budget has no room for another response of the connection. */
  began(answer: ServerResponse): HeldAnswer | null {
    const { socket } = answer.req;
    const owed = this.#owed.get(socket);
    // Count unread bytes only for the response that has the socket. Node queues later responses without a socket.
    const client: Client = {
      unreadBytes: () => (answer.socket === null ? 0 : socket.writableLength),
      readBytes: () => socket.bytesWritten - socket.writableLength,
      sentBytes: () => (answer.req.complete ? null : socket.bytesRead),
      cut: () => socket.destroy(),
    };
    const held = owed === undefined ? null : this.#budget.answer(socket, socket, client, owed.size === 0);
    if (owed === undefined || held === null) return null;
    const latest = this.#latest.get(socket);
    if (latest !== undefined && owed.has(latest)) this.#former.set(answer, latest);
    owed.set(answer, held);
    this.#latest.set(socket, answer);
    if (this.#isDraining && !answer.headersSent) answer.setHeader('Connection', 'close');
    answer.once('close', () => {
      held.end();
      owed.delete(answer);
      if (this.#isDraining && owed.size === 0) socket.destroySoon();
    });
    return held;
  }

  /** Calls `act` after all earlier responses of the connection are sent. A response that starts before then would wait in memory. */
  whenPreviousSent(answer: ServerResponse, act: () => void): void {
    const { socket } = answer.req;
    const former = this.#former.get(answer);
    const again = (): void => this.whenPreviousSent(answer, act);
    if (answer.socket !== null) act();
    else if (former !== undefined && this.#owed.get(socket)?.has(former) === true) former.once('close', again);
    // Check again later, because Node can take a moment to notice the end of an earlier response that was prepared in memory.
    else if (!socket.destroyed) setImmediate(again);
  }

  /** Calls `act` after the parser has read the current packet. If the packet completes the request, the connection can stay open. */
  afterPacket(answer: ServerResponse, act: () => void): void {
    closeIfIncomplete(answer);
    this.#afterPacket.set(answer, act);
    setImmediate(() => this.#now(answer));
  }

  /** Responds now instead of after the current packet, because an error of the parser is about to end the connection. */
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
    this.#isDraining = true;
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

/** Closes the connection after a response that starts before its request is complete. */
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

/** Reads for `LINGER_MS` after the last response. Otherwise, a client that still sends gets a reset, which discards the response. */
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
