import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { DocshelfError } from '../../domain/errors.ts';
import type { ClientRates } from '../limits/client-rates.ts';
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
  readonly delayMs?: number;
}

/** RFC 7617; the scheme is compared without case. */
const BASIC = /^basic +([A-Za-z0-9+/=_-]+) *$/i;
/** Of a client that has given many wrong ones. */
const DELAY_MS = 1_000;
/** Longer than any that a person or a program has; bcrypt reads 72 bytes. */
const PASSWORD_BYTES_MAX = 1024;

const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="Documentation", charset="UTF-8"' };

/** Names and passwords of a file of htpasswd. A right one is never slowed, whoever else guesses. */
export class BasicPasswords implements SignIn {
  readonly vary = 'Authorization';
  readonly #options: BasicPasswordsOptions;
  readonly #hashes: ReadonlyMap<string, string>;
  /** Compared where nobody has that name: an answer takes as long as for a wrong password. */
  readonly #nobodysHash: string;

  constructor(options: BasicPasswordsOptions) {
    this.#options = options;
    this.#hashes = readUsers(options.users);
    const [first = ''] = this.#hashes.values();
    this.#nobodysHash = `${first.slice(0, 7)}${'.'.repeat(53)}`;
  }

  async admit(incoming: IncomingMessage): Promise<Response | null> {
    const given = credentialsOf(incoming.headers.authorization);
    if (given === null) return this.#challenge(incoming);
    const { passwords, rates, clientOf, onWrong, delayMs = DELAY_MS } = this.#options;
    const client = clientOf(incoming);
    const hash = this.#hashes.get(given.name);
    try {
      const holds = await passwords.holds(client, given.password, hash ?? this.#nobodysHash);
      if (holds && hash !== undefined) return null;
    } catch (error) {
      return tooMany(incoming, error);
    }
    onWrong();
    try {
      rates.take(client);
    } catch (error) {
      await delay(delayMs);
      return tooMany(incoming, error);
    }
    return this.#challenge(incoming);
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
