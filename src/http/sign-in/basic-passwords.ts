import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import { DocshelfError } from '../../domain/errors.ts';
import { HEAPS, Thread, ThreadPool, threadEntry } from '../../threads/index.ts';
import { Scheduler } from '../../threads/scheduler.ts';
import type { GuessRates } from '../limits/client-rates.ts';
import type { PasswordCalls } from './password-worker.ts';
import { ownPage, type SignIn, type SignInEvents } from './sign-in.ts';

/** Time to cache the result of a password check. A changed hash applies at once, because the cache key contains the hash. */
const REMEMBERED_MS = 60_000;
const REMEMBERED_MAX = 10_000;
/** Maximum queued passwords per client, enough for an office that signs in together. A hash of cost 10 takes about 0.1 s. */
const WAITING_MAX = 256;
/** Maximum threads for passwords, so that pages keep the other cores of a small machine. */
const THREADS_MAX = 2;

/** Checks passwords. Caches results by keyed digests. Clients take turns, so that a client with many guesses delays only itself. */
export class PasswordCheck {
  readonly #key = randomBytes(32);
  readonly #known = new LRUCache<string, boolean>({ max: REMEMBERED_MAX, ttl: REMEMBERED_MS });
  readonly #turns = new Scheduler({ max: THREADS_MAX, waitingMax: WAITING_MAX, refuse: tooManyWaiting });
  readonly #threads = new ThreadPool<PasswordCalls>(
    () =>
      new Thread<PasswordCalls>({
        heap: HEAPS.passwords,
        entry: threadEntry('./password-worker', import.meta),
        task: 'verify a password',
      }),
  );

  /**
   * Checks all hashes in one call: the times of separate calls would reveal user names.
   * @param signal aborts when the client leaves, so that no client can queue more checks than the listener accepts requests
   * @throws DocshelfError `rate_limited`; the reason of `signal`
   */
  async holds(client: string, password: string, hashes: readonly string[], signal?: AbortSignal): Promise<boolean> {
    const digest = this.#digestOf(password, hashes);
    const compare = async (): Promise<boolean> => {
      const holds = await this.#threads.run((thread) => thread.call('compare', { password, hashes }));
      this.#known.set(digest, holds);
      return holds;
    };
    return this.#known.get(digest) ?? this.#turns.run(compare, { key: client, share: digest, signal });
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
}

function tooManyWaiting(): DocshelfError {
  return new DocshelfError('rate_limited', 'Cannot sign in now: too many passwords are being verified');
}

interface BasicPasswordsOptions extends Pick<SignInEvents, 'onWrong'> {
  readonly users: string;
  readonly passwords: Pick<PasswordCheck, 'holds' | 'remembers'>;
  readonly rates: GuessRates;
  readonly clientOf: (incoming: IncomingMessage) => string;
}

/** Authorization header with the Basic scheme (RFC 7617), which is case-insensitive. */
const BASIC = /^basic +([A-Za-z0-9+/=_-]+) *$/i;
const COST_MIN = 4;
/** Maximum length of a password. Real passwords are shorter, and bcrypt reads only 72 bytes. */
const PASSWORD_BYTES_MAX = 1024;

const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="Documentation", charset="UTF-8"' };

/** Checks names and passwords of an htpasswd file. Guesses of other clients never delay a right password. */
export class BasicPasswords implements SignIn {
  readonly vary = 'Authorization';
  readonly #options: BasicPasswordsOptions;
  readonly #hashes: ReadonlyMap<string, string>;
  /**
   * Highest cost of all hashes. Each check takes as long as a hash of this cost, so that its time does not reveal which user
   * names exist.
   */
  readonly #costMax: number;

  constructor(options: BasicPasswordsOptions) {
    this.#options = options;
    this.#hashes = readUsers(options.users);
    this.#costMax = Math.max(COST_MIN, ...[...this.#hashes.values()].map(costOf));
  }

  knows(incoming: IncomingMessage): boolean {
    const given = credentialsOf(incoming.headers.authorization);
    const hash = given === null ? undefined : this.#hashes.get(given.name);
    if (given === null || hash === undefined) return false;
    return this.#options.passwords.remembers(given.password, this.#compared(given.name, hash));
  }

  async admit(incoming: IncomingMessage, _: string, __?: boolean, signal?: AbortSignal): Promise<Response | null> {
    const given = credentialsOf(incoming.headers.authorization);
    if (given === null) return this.#challenge(incoming);
    const { passwords, rates, clientOf, onWrong } = this.#options;
    const client = clientOf(incoming);
    const hash = this.#hashes.get(given.name);
    try {
      const hashes = this.#compared(given.name, hash);
      if ((await passwords.holds(client, given.password, hashes, signal)) && hash !== undefined) return null;
      onWrong();
      await rates.takeLate(client);
    } catch (error) {
      return tooMany(incoming, error);
    }
    return this.#challenge(incoming);
  }

  /** Adds hashes so that each check takes as long as one hash of the highest cost. Each cost step doubles the time. */
  #compared(name: string, hash: string | undefined): readonly string[] {
    const costs = hash === undefined ? [this.#costMax] : range(costOf(hash), this.#costMax);
    const others = costs.map((cost) => nobodysHash(name, cost));
    return hash === undefined ? others : [hash, ...others];
  }

  #challenge(incoming: IncomingMessage): Response {
    return ownPage(incoming, { status: 401, words: 'signIn', headers: CHALLENGE });
  }
}

function tooMany(incoming: IncomingMessage, error: unknown): Response {
  if (!(error instanceof DocshelfError) || error.code !== 'rate_limited') throw error;
  return ownPage(incoming, {
    status: 429,
    words: 'wrongPasswords',
    headers: { 'Retry-After': String(error.fields.retryAfterS ?? 5) },
  });
}

const costOf = (hash: string): number => Number(hash.slice(4, 6));
/** Hash that no password matches. It depends on the name, because a cached result for one name must not apply to another name. */
function nobodysHash(name: string, cost: number): string {
  const salt = createHash('sha256').update(name).digest('base64').replaceAll('+', '.').slice(0, 22);
  return `$2b$${String(cost).padStart(2, '0')}$${salt}${'.'.repeat(31)}`;
}

const range = (from: number, end: number): number[] => Array.from({ length: end - from }, (_, at) => from + at);

/** Users by name. As in Apache, the first of two lines with the same name applies. */
function readUsers(text: string): ReadonlyMap<string, string> {
  const hashes = new Map<string, string>();
  for (const line of text.split('\n')) {
    const written = line.trim();
    const end = written.indexOf(':');
    if (end <= 0 || written.startsWith('#')) continue;
    const name = written.slice(0, end);
    if (!hashes.has(name)) hashes.set(name, written.slice(end + 1));
  }
  return hashes;
}

function credentialsOf(authorization: string | undefined): { name: string; password: string } | null {
  const encoded = BASIC.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString();
  const end = text.indexOf(':');
  if (end === -1 || text.length - end > PASSWORD_BYTES_MAX) return null;
  return { name: text.slice(0, end), password: text.slice(end + 1) };
}
