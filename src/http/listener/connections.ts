import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** For a request that a client sends as the connection is about to be closed: it would find no answer. */
const UNDERWAY_MS = 500;

/**
 * Open connections and the answers owed on each. Node's `closeIdleConnections` leaves unused connections, which
 * browsers open in advance, and those whose answer began before the close.
 */
export class Connections {
  readonly #owed = new Map<Socket, Set<ServerResponse>>();
  /** Prepared ones aside, whose requests have no body. */
  readonly #latest = new WeakMap<Socket, ServerResponse>();
  readonly #unreadMsMax: number;
  #isDraining = false;

  /** @param unreadMsMax that a client may take nothing of an answer for */
  constructor(server: Server, unreadMsMax: number) {
    this.#unreadMsMax = unreadMsMax;
    // Of idle connections, too. An answer may take longer to be made.
    server.on('timeout', (socket: Socket) => {
      if (socket.writableLength > 0 || !this.#owes(socket)) socket.destroy();
    });
    // `close` calls it, and it cuts answers that are written and not yet read.
    server.closeIdleConnections = () => undefined;
    server.on('connection', (socket) => {
      this.#owed.set(socket, new Set());
      // Node never closes answers that queue behind another one.
      socket.once('close', () => this.#owed.delete(socket));
    });
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  began(answer: ServerResponse): void {
    const { socket } = answer.req;
    this.#owed.get(socket)?.add(answer);
    this.#latest.set(socket, answer);
    // Until Node sets that of idle connections. Not for all: an answer that has left needs none.
    socket.setTimeout(this.#unreadMsMax);
    if (this.#isDraining && !answer.headersSent) answer.setHeader('Connection', 'close');
    answer.once('close', () => {
      this.#owed.get(socket)?.delete(answer);
      if (this.#isDraining && !this.#owes(socket)) socket.destroySoon();
    });
  }

  #owes(socket: Socket): boolean {
    return (this.#owed.get(socket)?.size ?? 0) > 0;
  }

  /** The answer, given or not, to a request that is not here as a whole. */
  incompleteOf(socket: Socket): ServerResponse | undefined {
    const latest = this.#latest.get(socket);
    return latest?.req.complete === false ? latest : undefined;
  }

  /** At once where no answer is owed. */
  whenIdle(socket: Socket, act: () => void): void {
    const [answer] = this.#owed.get(socket) ?? [];
    if (answer === undefined) act();
    else answer.once('close', () => this.whenIdle(socket, act));
  }

  drain(): void {
    this.#isDraining = true;
    for (const answers of this.#owed.values()) {
      for (const answer of answers) if (!answer.headersSent) answer.setHeader('Connection', 'close');
    }
    setTimeout(() => {
      for (const [socket, answers] of this.#owed) if (answers.size === 0) socket.destroySoon();
    }, UNDERWAY_MS).unref();
  }

  cut(): void {
    for (const socket of this.#owed.keys()) socket.destroy();
  }
}
