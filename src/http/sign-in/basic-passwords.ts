import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { DocshelfError } from '../../domain/errors.ts';
import type { ClientRates, LateAnswers } from '../limits/client-rates.ts';
import { ownPage } from './own-page.ts';
import type { Passwords } from './passwords/password-check.ts';
import type { SignIn, SignInEvents } from './sign-in.ts';

interface BasicPasswordsOptions extends Pick<SignInEvents, 'onWrong'> {
  /** Of htpasswd. */
  readonly users: string;
  readonly passwords: Passwords;
  /** Of wrong passwords. */
  readonly rates: ClientRates;
  readonly clientOf: (incoming: IncomingMessage) => string;
  readonly late: LateAnswers;
}

/** RFC 7617; the scheme is compared without case. */
const BASIC = /^basic +([A-Za-z0-9+/=_-]+) *$/i;
/** Of bcrypt. */
const COST_MIN = 4;
/** Longer than any that a person or a program has; bcrypt reads 72 bytes. */
const PASSWORD_BYTES_MAX = 1024;

const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="Documentation", charset="UTF-8"' };

/** Names and passwords of a file of htpasswd. A right one is never slowed, whoever else guesses. */
export class BasicPasswords implements SignIn {
  readonly vary = 'Authorization';
  readonly #options: BasicPasswordsOptions;
  readonly #hashes: ReadonlyMap<string, string>;
  /** Of the costliest hash: an answer to any wrong password takes as long as one to a wrong name. */
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

  async admit(incoming: IncomingMessage): Promise<Response | null> {
    const given = credentialsOf(incoming.headers.authorization);
    if (given === null) return this.#challenge(incoming);
    const { passwords, rates, clientOf, onWrong, late } = this.#options;
    const client = clientOf(incoming);
    const hash = this.#hashes.get(given.name);
    try {
      const hashes = this.#compared(given.name, hash);
      if ((await passwords.holds(client, given.password, hashes)) && hash !== undefined) return null;
    } catch (error) {
      return tooMany(incoming, error);
    }
    onWrong();
    try {
      rates.take(client);
    } catch (error) {
      await late.turnOf(client);
      return tooMany(incoming, error);
    }
    return this.#challenge(incoming);
  }

  /** A cost doubles the work: from that of the hash on they add up to the costliest. */
  #compared(name: string, hash: string | undefined): readonly string[] {
    const costs = hash === undefined ? [this.#costMax] : range(costOf(hash), this.#costMax);
    const others = costs.map((cost) => nobodysHash(name, cost));
    return hash === undefined ? others : [hash, ...others];
  }

  #challenge(incoming: IncomingMessage): Response {
    return ownPage(incoming, {
      status: 401,
      words: 'signIn',
      headers: CHALLENGE,
    });
  }
}

/** @throws the error where it is another than `rate_limited` */
function tooMany(incoming: IncomingMessage, error: unknown): Response {
  if (!(error instanceof DocshelfError) || error.code !== 'rate_limited') throw error;
  return ownPage(incoming, {
    status: 429,
    words: 'wrongPasswords',
    headers: { 'Retry-After': String(error.fields.retryAfterS ?? 5) },
  });
}

const costOf = (hash: string): number => Number(hash.slice(4, 6));
/** One for each name: a password that was compared for another name is not remembered. */
function nobodysHash(name: string, cost: number): string {
  const salt = createHash('sha256').update(name).digest('base64').replaceAll('+', '.').slice(0, 22);
  return `$2b$${String(cost).padStart(2, '0')}$${salt}${'.'.repeat(31)}`;
}

const range = (from: number, end: number): number[] => Array.from({ length: end - from }, (_, at) => from + at);

/** Of two lines for one name the first counts, as in htpasswd's own readers. */
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
