import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Open connections and the answers owed on each. Node's `closeIdleConnections` leaves unused connections, which
 * browsers open in advance, and those whose answer began before the close.
 */
export class Connections {
  readonly #owed = new Map<Socket, Set<ServerResponse>>();
  #isDraining = false;

  constructor(server: Server) {
    server.on('connection', (socket) => {
      this.#owed.set(socket, new Set());
      // Node never closes answers that queue behind another one.
      socket.once('close', () => this.#owed.delete(socket));
    });
  }

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

  drain(): void {
    this.#isDraining = true;
    for (const [socket, answers] of this.#owed) {
      if (answers.size === 0) socket.destroySoon();
      for (const answer of answers) if (!answer.headersSent) answer.setHeader('Connection', 'close');
    }
  }

  cut(): void {
    for (const socket of this.#owed.keys()) socket.destroy();
  }
}
