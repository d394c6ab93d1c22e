import { clientOf } from '../limits/client-rates.ts';

interface Limits {
  /** Requests whose answers are not finished. */
  readonly requests: number;
  /** Bytes in memory for those answers. */
  readonly bytes: number;
}

const MiB = 1024 ** 2;
const LIMITS = {
  connection: { requests: 128, bytes: 2 * MiB },
  // At most half of everything: another address always finds room.
  address: { requests: 1_024, bytes: 32 * MiB },
  all: { requests: 4_096, bytes: 64 * MiB },
  /** A client that was still for this long may lose its place to another. */
  stillMs: 2_000,
};

type BudgetLimits = Record<'connection' | 'address' | 'all', Limits> & {
  readonly stillMs: number;
  readonly connections: number;
};

/** Held for an answer before its size is known, and for each part of a large one. */
export const PART_BYTES = 64 * 1024;
/** Connections or answers that are looked at to find a still one. */
const LOOKS = 64;
/** After no answer was found still. */
const LOOK_AGAIN_MS = 50;
/** 20 KiB each: 200 MiB. */
const CONNECTIONS_MAX = 10_000;
/** Kept for files that are sent, the data folder, databases, sources and commands. */
const HANDLES_RESERVED = 1_024;

/** An answer under way, as its protocol sees it. */
export interface Client {
  /** Bytes that were written for the client and that it has not taken. */
  unread(): number;
  /** Bytes that it has taken. */
  taken(): number;
  /** Bytes of a request that is not complete; null if it is. */
  sent(): number | null;
  /** Ends the answer and frees its memory. */
  cut(): void;
}

/** The other end of a connection. */
export interface Peer {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localPort?: number | undefined;
}

/** A connection before any protocol. */
interface Opened extends Peer {
  readonly bytesRead: number;
  destroy(): unknown;
  once(event: 'close', act: () => void): unknown;
}

interface BudgetTimes {
  /** A client takes a part of its answer in this time, or is cut. */
  readonly unreadMsMax: number;
  readonly checkMs: number;
}

/** Answers that share limits: those of a connection, of an address, or all. */
class Scope {
  readonly #limits: Limits;
  /** Still ones first. */
  readonly answers = new Set<HeldAnswer>();
  /** Acts that wait for room, in their order. */
  readonly waiting = new Set<() => void>();
  #bytes = 0;
  #lookAgainMs = 0;
  readonly #stillMs: number;

  constructor(limits: Limits, stillMs: number) {
    this.#limits = limits;
    this.#stillMs = stillMs;
  }

  get isFull(): boolean {
    return this.answers.size >= this.#limits.requests;
  }

  get bytes(): number {
    return this.#bytes;
  }

  hasRoom(bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= this.#limits.bytes;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    if (bytes >= 0) return;
    for (const act of this.waiting) {
      if (!this.hasRoom(PART_BYTES)) return;
      this.waiting.delete(act);
      act();
    }
  }

  /** Ends the answer that has been still for longest. False if none has been for long. */
  cutStill(): boolean {
    const nowMs = performance.now();
    if (nowMs < this.#lookAgainMs) return false;
    let looks = 0;
    for (const answer of this.answers) {
      if (answer.look(nowMs) >= this.#stillMs) {
        answer.cut();
        return true;
      }
      if (++looks === LOOKS) break;
    }
    this.#lookAgainMs = nowMs + LOOK_AGAIN_MS;
    return false;
  }
}

interface Connection {
  readonly scope: Scope;
  /** Bytes that it had sent at the last look. */
  bytesRead: number;
  readonly left: () => void;
}

interface Address {
  readonly scope: Scope;
  readonly connections: Map<Opened, Connection>;
}

/**
 * The one bound of everything that waits for clients, over all protocols and ports of a process: connections, requests and bytes, for each
 * connection, each address and in total. If there is no room, the client that has been still for longest loses its answer or its idle
 * connection. If all clients move, the others wait.
 */
export class ClientBudget {
  readonly #limits: BudgetLimits;
  readonly #all: Scope;
  readonly #addresses = new Map<string, Address>();
  readonly #connections = new Map<Opened, Connection>();
  readonly #byPort = new Map<string, Scope>();
  readonly #scopes = new WeakMap<object, Scope>();

  /** @param limits for tests, which cannot open thousands of connections */
  constructor(limits: Partial<BudgetLimits> = {}) {
    this.#limits = { ...LIMITS, connections: limits.connections ?? connectionsAllowed(), ...limits };
    this.#all = this.#scope('all');
  }

  get bytes(): number {
    return this.#all.bytes;
  }

  /** False if there is no room for a new connection. */
  connect(peer: Opened): boolean {
    const name = clientOf(peer.remoteAddress ?? '');
    const { connections } = this.#address(name);
    const { connections: max } = this.#limits;
    const hasRoom = this.#hasRoom(connections, max / 2) && this.#hasRoom(this.#connections, max);
    if (hasRoom) {
      const port = portOf(peer);
      const scope = this.#scope('connection');
      const left = (): void => {
        connections.delete(peer);
        this.#connections.delete(peer);
        if (this.#byPort.get(port) === scope) this.#byPort.delete(port);
        this.#forget(name);
      };
      const connection = { scope, bytesRead: 0, left };
      connections.set(peer, connection);
      this.#connections.set(peer, connection);
      this.#byPort.set(port, scope);
      peer.once('close', left);
    }
    this.#forget(name);
    return hasRoom;
  }

  /** If there is none, closes a connection without an answer that has sent nothing since it was last looked at. */
  #hasRoom(connections: Map<Opened, Connection>, max: number): boolean {
    if (connections.size < max) return true;
    let looks = 0;
    for (const [peer, connection] of connections) {
      if (connection.scope.answers.size === 0 && connection.bytesRead === peer.bytesRead) {
        connection.left();
        peer.destroy();
        return true;
      }
      connection.bytesRead = peer.bytesRead;
      connections.delete(peer);
      connections.set(peer, connection);
      if (++looks === LOOKS) return false;
    }
    return false;
  }

  /**
   * @param connection that the answers of one client share
   * @param isFirst of its connection: connections are bounded, and it is never refused
   * @returns null if there is no room for another request, which is refused
   */
  answer(connection: object, peer: Peer, client: Client, isFirst: boolean): HeldAnswer | null {
    const own = this.#scopes.get(connection) ?? this.#byPort.get(portOf(peer)) ?? this.#scope('connection');
    this.#scopes.set(connection, own);
    const name = clientOf(peer.remoteAddress ?? '');
    const scopes = [own, this.#address(name).scope, this.#all];
    const hasRoom = isFirst || (!own.isFull && scopes.every((scope) => !scope.isFull || scope.cutStill()));
    if (hasRoom) return new HeldAnswer(scopes, client, () => this.#forget(name));
    this.#forget(name);
    return null;
  }

  /** Cuts clients that take nothing of their answers. @returns an act that ends it */
  watch({ unreadMsMax, checkMs }: BudgetTimes): () => void {
    const check = setInterval(() => {
      const nowMs = performance.now();
      for (const answer of [...this.#all.answers]) {
        const stillMs = answer.look(nowMs);
        if (stillMs >= this.#limits.stillMs && answer.isInTheWay) answer.cut();
        else if (stillMs >= unreadMsMax && answer.isUnread) answer.cut();
      }
    }, checkMs).unref();
    return () => clearInterval(check);
  }

  #scope(kind: 'connection' | 'address' | 'all'): Scope {
    return new Scope(this.#limits[kind], this.#limits.stillMs);
  }

  #address(name: string): Address {
    const known = this.#addresses.get(name);
    if (known !== undefined) return known;
    const made = { scope: this.#scope('address'), connections: new Map<Opened, Connection>() };
    this.#addresses.set(name, made);
    return made;
  }

  #forget(name: string): void {
    const known = this.#addresses.get(name);
    if (known?.scope.answers.size === 0 && known.connections.size === 0) this.#addresses.delete(name);
  }
}

/** The bytes that one answer holds. */
export class HeldAnswer {
  readonly #scopes: readonly Scope[];
  readonly #client: Client;
  readonly #onEnd: () => void;
  #bytes = 0;
  #moved = -1;
  #movedMs = performance.now();
  #waitsIn: Scope | null = null;
  #act: (() => void) | null = null;
  #isOver = false;

  constructor(scopes: readonly Scope[], client: Client, onEnd: () => void) {
    this.#scopes = scopes;
    this.#client = client;
    this.#onEnd = onEnd;
    for (const { answers } of scopes) answers.add(this);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get hasRoom(): boolean {
    return this.#scopes.every((scope) => scope.hasRoom(PART_BYTES));
  }

  get isUnread(): boolean {
    return this.#client.unread() > 0;
  }

  /** Others wait for its bytes. */
  get isInTheWay(): boolean {
    return this.#bytes > 0 && this.#scopes.some(({ waiting }) => waiting.size > 0);
  }

  /** Acts when there is room for a part, at once if there is, and also when the answer is over. */
  whenRoom(act: () => void): void {
    const full = this.#isOver ? undefined : this.#scopes.find((scope) => !this.#fits(scope));
    if (full === undefined) {
      if (!this.#isOver) this.hold(PART_BYTES);
      act();
      return;
    }
    this.#waitsIn = full;
    this.#act = () => {
      this.#waitsIn = null;
      this.whenRoom(act);
    };
    full.waiting.add(this.#act);
  }

  #fits(scope: Scope): boolean {
    while (!scope.hasRoom(PART_BYTES)) if (!scope.cutStill()) return false;
    return true;
  }

  /** True if it holds that much from now on, which no other answer has to wait for. */
  holdMore(bytes: number): boolean {
    const hasRoom = this.#scopes.every((scope) => scope.hasRoom(2 * (bytes - this.#bytes)));
    if (hasRoom) this.hold(bytes);
    return hasRoom;
  }

  /** For an answer that is written as a whole. */
  holdUnread(): void {
    this.hold(this.#client.unread());
  }

  hold(bytes: number): void {
    if (this.#isOver) return;
    const more = bytes - this.#bytes;
    this.#bytes = bytes;
    for (const scope of this.#scopes) scope.add(more);
  }

  /** How long the client has been still, in ms. */
  look(nowMs: number): number {
    const moved = this.isUnread ? this.#client.taken() : this.#client.sent();
    // The app, not the client, has to act next.
    if (moved !== null && moved === this.#moved) return nowMs - this.#movedMs;
    this.#moved = moved ?? -1;
    this.#movedMs = nowMs;
    for (const { answers } of this.#scopes) {
      answers.delete(this);
      answers.add(this);
    }
    return 0;
  }

  cut(): void {
    this.end();
    this.#client.cut();
  }

  end(): void {
    if (this.#isOver) return;
    this.hold(0);
    this.#isOver = true;
    for (const { answers } of this.#scopes) answers.delete(this);
    if (this.#act !== null && this.#waitsIn?.waiting.delete(this.#act)) this.#act();
    this.#onEnd();
  }
}

const portOf = ({ remoteAddress, remotePort, localPort }: Peer): string =>
  `${remoteAddress} ${remotePort} ${localPort}`;

/** By the process's limit of open files, of which each connection is one. */
function connectionsAllowed(): number {
  // Names of network interfaces may take seconds to look up.
  const report = Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft: number | string } } };
  const handles = Number(userLimits?.open_files?.soft ?? 1_024);
  if (Number.isNaN(handles)) return CONNECTIONS_MAX;
  return Math.min(CONNECTIONS_MAX, handles - Math.min(HANDLES_RESERVED, Math.floor(handles / 2)));
}
