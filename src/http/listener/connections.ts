import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The open connections of a server and the answers owed on each, so that it can be closed without cutting anybody off.
 *
 * Node's `closeIdleConnections` is not enough for that: it leaves connections on which nothing has been asked yet (browsers
 * open such in advance), and one whose answer was begun before the close goes on waiting for its next request.
 */
export class Connections {
  readonly #owed = new Map<Socket, Set<ServerResponse>>();
  #isDraining = false;

  constructor(server: Server) {
    server.on('connection', (socket) => {
      this.#owed.set(socket, new Set());
      // With the connection go the answers that queue behind another one on it: Node never closes those.
      socket.once('close', () => this.#owed.delete(socket));
    });
  }

  /** An answer is owed from now on. */
  began(answer: ServerResponse): void {
    const { socket } = answer.req;
    this.#owed.get(socket)?.add(answer);
    if (this.#isDraining) answer.setHeader('Connection', 'close');
    answer.once('close', () => {
      this.#owed.get(socket)?.delete(answer);
      if (this.#isDraining && !this.isBusy(socket)) socket.destroySoon();
    });
  }

  isBusy(socket: Socket): boolean {
    return (this.#owed.get(socket)?.size ?? 0) > 0;
  }

  /** Closes what is idle; the others close with the answer that they wait for. */
  drain(): void {
    this.#isDraining = true;
    for (const [socket, answers] of this.#owed) {
      if (answers.size === 0) socket.destroySoon();
      for (const answer of answers) if (!answer.headersSent) answer.setHeader('Connection', 'close');
    }
  }

  /** Cuts what is left. */
  cut(): void {
    for (const socket of this.#owed.keys()) socket.destroy();
  }
}
