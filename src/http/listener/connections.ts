import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Client, ClientBudget, HeldAnswer } from './client-budget.ts';

/** For a request that a client sends as the connection is about to be closed: it would find no answer. */
const UNDERWAY_MS = 500;
/** For a client to read its answer and to close the connection. */
export const LINGER_MS = 2_000;

/**
 * Open connections of HTTP/1 and the answers owed on each. Node's `closeIdleConnections` leaves unused connections, which
 * browsers open in advance, and those whose answer began before the close.
 */
export class Connections {
  readonly #owed = new Map<Socket, Map<ServerResponse, HeldAnswer>>();
  /** Prepared ones aside, whose requests have no body. */
  readonly #latest = new WeakMap<Socket, ServerResponse>();
  readonly #former = new WeakMap<ServerResponse, ServerResponse>();
  readonly #afterPacket = new WeakMap<ServerResponse, () => void>();
  readonly #budget: ClientBudget;
  #isDraining = false;

  constructor(server: Server, budget: ClientBudget) {
    this.#budget = budget;
    // Only idle connections end here. The budget ends unread responses, and a response may take longer to create.
    server.on('timeout', (socket: Socket) => {
      if (!this.#owes(socket)) socket.destroy();
    });
    // `close` calls it, and it cuts answers that are written and not yet read.
    server.closeIdleConnections = () => undefined;
    server.on('connection', (socket) => {
      this.#owed.set(socket, new Map());
      // Node never closes answers that queue behind another one.
      socket.once('close', () => {
        for (const held of this.#owed.get(socket)?.values() ?? []) held.end();
        this.#owed.delete(socket);
      });
    });
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Null if the client waits for so many answers that it gets no other. */
  began(answer: ServerResponse): HeldAnswer | null {
    const { socket } = answer.req;
    const owed = this.#owed.get(socket);
    const held = owed === undefined ? null : this.#budget.answer(socket, socket, clientOf(answer), owed.size === 0);
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

  /** Acts when the answers before it are sent: an answer that is made earlier waits in memory. */
  whenPreviousSent(answer: ServerResponse, act: () => void): void {
    const { socket } = answer.req;
    const former = this.#former.get(answer);
    const again = (): void => this.whenPreviousSent(answer, act);
    if (answer.socket !== null) act();
    else if (former !== undefined && this.#owed.get(socket)?.has(former) === true) former.once('close', again);
    // A prepared answer has just left, which Node is about to note.
    else if (!socket.destroyed) setImmediate(again);
  }

  /** Acts when the parser has read the rest of its packet, which may contain the whole body: then the connection stays open. */
  afterPacket(answer: ServerResponse, act: () => void): void {
    closeIfIncomplete(answer);
    this.#afterPacket.set(answer, act);
    setImmediate(() => this.#now(answer));
  }

  /** Answers the latest request before the parser's error ends the connection. */
  now(socket: Socket): void {
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

  /** The answer, given or not, to a request that is not here as a whole. */
  incompleteOf(socket: Socket): ServerResponse | undefined {
    const latest = this.#latest.get(socket);
    return latest?.req.complete === false ? latest : undefined;
  }

  /** Acts at once if no response is owed. */
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

/** An answer before the end of its request is the last of its connection. */
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

/** Reads on for a while when the last answer is sent: a reset would keep a client that still sends from reading it. */
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

/** Only the first answer of a connection is written to it. */
function clientOf(answer: ServerResponse): Client {
  const { socket } = answer.req;
  return {
    unread: () => (answer.socket === null ? 0 : socket.writableLength),
    taken: () => socket.bytesWritten - socket.writableLength,
    sent: () => (answer.req.complete ? null : socket.bytesRead),
    cut: () => socket.destroy(),
  };
}
