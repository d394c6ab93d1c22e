import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { DocshelfError } from '../../../domain/errors.ts';
import { HEAPS, Thread, ThreadPool, threadEntry } from '../../../threads/index.ts';
import type { PasswordCalls } from './worker.ts';

/** Contract, section 9.7. A changed entry is another hash, and asked anew at once. */
const REMEMBERED_MS = 60_000;
/** 200 bytes each. */
const REMEMBERED_MAX = 10_000;
/** Of one client: the readers of an office that come at once. A cost of 10 takes about a tenth of a second. */
const WAITING_MAX = 256;
const WAITING_IN_ALL_MAX = 4_096;
/** The rest of a small machine is for pages. */
const THREADS_MAX = 2;

interface Order {
  readonly password: string;
  readonly hashes: readonly string[];
  readonly done: (holds: Promise<boolean>) => void;
}

export interface Passwords {
  /**
   * One turn, however many hashes: a wait per hash would tell names by their costs.
   * @param client who asks, by address
   * @param hashes the user's own first; the others are compared where it does not match, and let nobody in
   * @throws DocshelfError `rate_limited` where too many of his wait; of the thread
   */
  holds(client: string, password: string, hashes: readonly string[]): Promise<boolean> | boolean;
  /** True if the password was right a short time ago. */
  remembers(password: string, hashes: readonly string[]): boolean;
}

/** bcrypt in threads, remembered by keyed digests. Clients take turns: who guesses waits behind himself. */
export class PasswordCheck implements Passwords {
  readonly #waitingInAllMax: number;
  readonly #key = randomBytes(32);
  readonly #known = new LRUCache<string, boolean>({ max: REMEMBERED_MAX, ttl: REMEMBERED_MS });
  readonly #asked = new Map<string, Promise<boolean>>();
  /** By client, who is next first. */
  readonly #waiting = new Map<string, Order[]>();
  #waitingCount = 0;
  #running = 0;
  readonly #threads = new ThreadPool<PasswordCalls>(
    () =>
      new Thread<PasswordCalls>({
        heap: HEAPS.passwords,
        entry: threadEntry('./worker', import.meta),
        task: 'verify a password',
      }),
  );

  /** @param waitingInAllMax passwords of all clients */
  constructor(waitingInAllMax = WAITING_IN_ALL_MAX) {
    this.#waitingInAllMax = waitingInAllMax;
  }

  holds(client: string, password: string, hashes: readonly string[]): Promise<boolean> | boolean {
    const digest = this.#digestOf(password, hashes);
    const known = this.#known.get(digest) ?? this.#asked.get(digest);
    if (known !== undefined) return known;
    const asked = this.#enqueue(client, { password, hashes })
      .then((holds) => {
        this.#known.set(digest, holds);
        return holds;
      })
      .finally(() => this.#asked.delete(digest));
    this.#asked.set(digest, asked);
    return asked;
  }

  remembers(password: string, hashes: readonly string[]): boolean {
    return this.#known.get(this.#digestOf(password, hashes)) === true;
  }

  #digestOf(password: string, hashes: readonly string[]): string {
    return createHmac('sha256', this.#key)
      .update(`${hashes.join(' ')}\n${password}`)
      .digest('base64');
  }

  async end(): Promise<void> {
    await this.#threads.end();
  }

  async #enqueue(client: string, order: Omit<Order, 'done'>): Promise<boolean> {
    const own = this.#waiting.get(client) ?? [];
    if (own.length >= WAITING_MAX) throw tooMany();
    if (this.#waitingCount >= this.#waitingInAllMax) this.#makeRoomBeside(own);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    own.push({ ...order, done: resolve });
    this.#waiting.set(client, own);
    this.#waitingCount++;
    this.#runNext();
    return promise;
  }

  /** Who has the most places gives one up. @throws DocshelfError `rate_limited` where that is who asks for one */
  #makeRoomBeside(own: readonly Order[]): void {
    const longest = [...this.#waiting.values()].reduce(
      (most, orders) => (orders.length > most.length ? orders : most),
      [] as Order[],
    );
    // One more at least than who asks will have: nobody loses his only place, and none is left with an empty queue.
    const dropped = longest.length > own.length + 1 ? longest.pop() : undefined;
    if (dropped === undefined) throw tooMany();
    this.#waitingCount--;
    dropped.done(Promise.reject(tooMany()));
  }

  #runNext(): void {
    const [turn] = this.#waiting;
    if (turn === undefined || this.#running >= THREADS_MAX) return;
    const [client, orders] = turn;
    const order = orders.shift();
    this.#waiting.delete(client);
    if (orders.length > 0) this.#waiting.set(client, orders);
    if (order === undefined) return;
    const { password, hashes, done } = order;
    this.#waitingCount--;
    this.#running++;
    const compared = this.#threads.run((thread) => thread.call('compare', { password, hashes }));
    done(
      compared.finally(() => {
        this.#running--;
        this.#runNext();
      }),
    );
  }
}

const tooMany = (): DocshelfError =>
  new DocshelfError('rate_limited', 'Cannot sign in now: too many passwords wait to be verified');
