import { clientOf } from '../limits/client-rates.ts';

interface Limits {
  readonly requests: number;
  readonly bytes: number;
}

const MiB = 1024 ** 2;
const LIMITS = {
  connection: { requests: 128, bytes: 2 * MiB },
  // Limit each client address to half of the bytes of all clients, so that other addresses always have room.
  address: { requests: 1_024, bytes: 32 * MiB },
  all: { requests: 4_096, bytes: 64 * MiB },
  /** Milliseconds without progress after which the budget can end a client's response to make room. */
  stillMs: 2_000,
};

type BudgetLimits = Record<'connection' | 'address' | 'all', Limits> & {
  readonly stillMs: number;
  readonly connections: number;
};

/** Bytes to reserve in the budget for a response of unknown size, and for each part of a large response. */
export const PART_BYTES = 64 * 1024;
const SEARCHED_MAX = 64;
const SEARCH_PAUSE_MS = 50;
/** Maximum connections. Each takes 20 KiB, so all of them take 200 MiB. */
const CONNECTIONS_MAX = 10_000;
/** Number of file descriptors to keep free for served files, the data folder, databases, sources and commands. */
const HANDLES_RESERVED = 1_024;

export interface Client {
  unreadBytes(): number;
  readBytes(): number;
  /** Received bytes of an incomplete request. Null if the request is complete. */
  sentBytes(): number | null;
  cut(): void;
}

export interface Peer {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localPort?: number | undefined;
}

interface Opened extends Peer {
  readonly bytesRead: number;
  destroy(): unknown;
  once(event: 'close', act: () => void): unknown;
}

class Scope {
  readonly #limits: Limits;
  readonly answers = new Set<HeldAnswer>();
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

  /** Ends stalled responses until there is room for another part of a body. Returns false if no stalled response is left. */
  makeRoom(): boolean {
    while (!this.hasRoom(PART_BYTES)) if (!this.cutStill()) return false;
    return true;
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

  /**
   * Ends one response that has made no progress for `stillMs`. Checks at most `SEARCHED_MAX` responses. Returns false if it finds
   * none.
   */
  cutStill(): boolean {
    const nowMs = performance.now();
    if (nowMs < this.#lookAgainMs) return false;
    let looks = 0;
    for (const answer of this.answers) {
      if (answer.measureIdleMs(nowMs) >= this.#stillMs) {
        answer.cut();
        return true;
      }
      if (++looks === SEARCHED_MAX) break;
    }
    this.#lookAgainMs = nowMs + SEARCH_PAUSE_MS;
    return false;
  }
}

/** Limits that apply to a connection: those of the connection, those of its client address, and those of all connections. */
type Scopes = readonly [Scope, Scope, Scope];

interface Connection {
  readonly scope: Scope;
  bytesRead: number;
  readonly left: () => void;
}

interface Address {
  readonly scope: Scope;
  readonly connections: Map<Opened, Connection>;
}

/** Limits requests and unread response bytes. To make room, ends the response that has made no progress for the longest time. */
export class ClientBudget {
  readonly #limits: BudgetLimits;
  readonly #all: Scope;
  readonly #addresses = new Map<string, Address>();
  readonly #connections = new Map<Opened, Connection>();
  /**
   * Limits of each connection, by its ports. With TLS, a request has another connection object than the one passed to `connect`.
   */
  readonly #byPort = new Map<string, Scopes>();
  readonly #scopes = new WeakMap<object, Scopes>();

  constructor(limits: Partial<BudgetLimits> = {}) {
    this.#limits = { ...LIMITS, connections: limits.connections ?? connectionsAllowed(), ...limits };
    this.#all = this.#scope('all');
  }

  get bytes(): number {
    return this.#all.bytes;
  }

  connect(peer: Opened): boolean {
    const name = clientOf(peer.remoteAddress ?? '');
    const address = this.#addresses.get(name) ?? { scope: this.#scope('address'), connections: new Map() };
    const { connections } = address;
    const { connections: max } = this.#limits;
    if (!this.#hasRoom(connections, max / 2) || !this.#hasRoom(this.#connections, max)) return false;
    const port = portOf(peer);
    const scopes = this.#scopesOf(address.scope);
    const left = (): void => {
      connections.delete(peer);
      this.#connections.delete(peer);
      if (this.#byPort.get(port) === scopes) this.#byPort.delete(port);
      if (this.#addresses.get(name)?.connections.size === 0) this.#addresses.delete(name);
    };
    const connection = { scope: scopes[0], bytesRead: 0, left };
    connections.set(peer, connection);
    // Add the address only now, because `#hasRoom` can have closed its last connection, which removes the address.
    this.#addresses.set(name, address);
    this.#connections.set(peer, connection);
    this.#scopes.set(peer, scopes);
    this.#byPort.set(port, scopes);
    peer.once('close', left);
    return true;
  }

  /** Returns true if there is room. At `max`, closes a connection without a pending response or new bytes since the last check. */
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
      if (++looks === SEARCHED_MAX) return false;
    }
    return false;
  }

  /**
   * Registers a response. Returns null if the budget has no room.
   * @param isFirst true if the connection has no other response. The limits then do not apply
   */
  answer(connection: object, peer: Peer, client: Client, isFirst: boolean): HeldAnswer | null {
    const known = this.#scopes.get(connection) ?? this.#byPort.get(portOf(peer));
    // If the connection is already closed, the maps no longer contain its limits, so create new ones.
    const scopes = known ?? this.#scopesOf(this.#scope('address'));
    this.#scopes.set(connection, scopes);
    const [own] = scopes;
    const hasRoom = isFirst || (!own.isFull && scopes.every((scope) => !scope.isFull || scope.cutStill()));
    return hasRoom ? new HeldAnswer(scopes, client) : null;
  }

  watch({ unreadMsMax, checkMs }: { readonly unreadMsMax: number; readonly checkMs: number }): () => void {
    const check = setInterval(() => {
      const nowMs = performance.now();
      for (const answer of [...this.#all.answers]) {
        const stillMs = answer.measureIdleMs(nowMs);
        if (stillMs >= this.#limits.stillMs && answer.isInTheWay) answer.cut();
        else if (stillMs >= unreadMsMax && answer.isUnread) answer.cut();
      }
    }, checkMs).unref();
    return () => clearInterval(check);
  }

  #scope(kind: 'connection' | 'address' | 'all'): Scope {
    return new Scope(this.#limits[kind], this.#limits.stillMs);
  }

  #scopesOf(address: Scope): Scopes {
    return [this.#scope('connection'), address, this.#all];
  }
}

export class HeldAnswer {
  readonly #scopes: readonly Scope[];
  readonly #client: Client;
  #isOver = false;
  #bytes = 0;
  #moved = -1;
  #movedMs = performance.now();
  #waitsIn: Scope | null = null;
  #act: (() => void) | null = null;

  constructor(scopes: readonly Scope[], client: Client) {
    this.#scopes = scopes;
    this.#client = client;
    for (const { answers } of scopes) answers.add(this);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get hasRoom(): boolean {
    return this.#scopes.every((scope) => scope.hasRoom(PART_BYTES));
  }

  get isUnread(): boolean {
    return this.#client.unreadBytes() > 0;
  }

  get isInTheWay(): boolean {
    return this.#bytes > 0 && this.#scopes.some(({ waiting }) => waiting.size > 0);
  }

  whenRoom(act: () => void): void {
    for (const scope of this.#isOver ? [] : this.#scopes) {
      if (scope.makeRoom()) continue;
      this.#waitsIn = scope;
      this.#act = () => {
        this.#waitsIn = null;
        this.whenRoom(act);
      };
      scope.waiting.add(this.#act);
      return;
    }
    this.hold(PART_BYTES);
    act();
  }

  /** Increases the response's reservation to `bytes` if the budget has room for twice the increase. Otherwise, returns false. */
  holdMore(bytes: number): boolean {
    const hasRoom = this.#scopes.every((scope) => scope.hasRoom(2 * (bytes - this.#bytes)));
    if (hasRoom) this.hold(bytes);
    return hasRoom;
  }

  holdUnread(): void {
    this.hold(this.#client.unreadBytes());
  }

  hold(bytes: number): void {
    if (this.#isOver) return;
    const more = bytes - this.#bytes;
    this.#bytes = bytes;
    for (const scope of this.#scopes) scope.add(more);
  }

  measureIdleMs(nowMs: number): number {
    const moved = this.isUnread ? this.#client.readBytes() : this.#client.sentBytes();
    // `moved` is null if the client has sent its whole request and has nothing to read. The client then waits for docshelf and is
    // not idle.
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
  }
}

const portOf = ({ remoteAddress, remotePort, localPort }: Peer): string =>
  `${remoteAddress} ${remotePort} ${localPort}`;

/** Derives the maximum number of connections from the process's open-file limit, because each connection needs a file descriptor. */
function connectionsAllowed(): number {
  // Omit network interfaces from the diagnostic report of Node, because the look-up of their names can take seconds.
  const report = Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft: number | string } } };
  const handles = Number(userLimits?.open_files?.soft ?? 1_024);
  if (Number.isNaN(handles)) return CONNECTIONS_MAX;
  return Math.min(CONNECTIONS_MAX, handles - Math.min(HANDLES_RESERVED, Math.floor(handles / 2)));
}
