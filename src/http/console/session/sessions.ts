import { createHash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Secret } from '../../../domain/secret.ts';
import { Messages } from './messages.ts';

/** A day's work; whoever leaves a screen open signs in again. */
export const SESSION_MS = 12 * 3600_000;
/** 2 KiB each with its messages. The one used least recently goes first. */
const SESSIONS_MAX = 1_000;

export interface ConsoleSession {
  /** For audit lines: it tells sessions apart and opens none. */
  readonly name: string;
  /** What each form of the session carries. */
  readonly formToken: string;
  readonly messages: Messages;
  /** That it was opened with. */
  readonly token: Secret;
}

interface SessionsOptions {
  /** Null: none is set. */
  readonly token: () => Secret | null;
  readonly now?: () => number;
}

/** Signed-in operators, in memory: a restart ends all, a changed token those of the former. */
export class Sessions {
  readonly #token: SessionsOptions['token'];
  /** By the digest of the cookie's value: what memory holds opens nothing. */
  readonly #kept: LRUCache<string, ConsoleSession>;

  constructor({ token, now = () => performance.now() }: SessionsOptions) {
    this.#token = token;
    this.#kept = new LRUCache({ max: SESSIONS_MAX, ttl: SESSION_MS, ttlResolution: 0, perf: { now } });
  }

  /** @param token that was just found right. @returns the cookie's value */
  open(token: Secret): string {
    const value = randomBytes(32).toString('hex');
    const key = keyOf(value);
    const formToken = randomBytes(32).toString('base64url');
    this.#kept.set(key, { name: key.slice(0, 8), formToken, messages: new Messages(), token });
    return value;
  }

  find(values: readonly string[]): ConsoleSession | null {
    for (const value of values) {
      const session = this.#kept.get(keyOf(value));
      if (session?.token.equals(this.#token()) === true) return session;
    }
    return null;
  }

  /** Whether one that was found has not ended since: by a sign-out, its age or another token. */
  isOpen(session: ConsoleSession): boolean {
    return session.token.equals(this.#token()) && [...this.#kept.values()].includes(session);
  }

  end(values: readonly string[]): void {
    for (const value of values) this.#kept.delete(keyOf(value));
  }
}

function keyOf(value: string): string {
  return createHash('sha256').update(value).digest('hex');
}
