import { createHash, randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import { LRUCache } from 'lru-cache';
import { DocshelfError } from '../../domain/errors.ts';
import { BODY_BYTES_MAX } from '../../domain/limits.ts';
import type { Problem } from '../../domain/problem.ts';
import type { Secret } from '../../domain/secret.ts';
import { collect } from '../../files/index.ts';
import { isSame } from '../bearer.ts';
import type { CreatedKey } from '../keys/key-schemas.ts';
import { SiteCookie } from '../sign-in/oidc/cookies.ts';

/** A day's work; whoever leaves a screen open signs in again. */
const SESSION_MS = 12 * 3600_000;
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

/** What became of it, or of one of its parts. */
export interface Verdict {
  readonly text: string;
  /** Null: it succeeded. */
  readonly problem: Problem | null;
}

/** What became of an action, told on the page that follows it. */
export interface ActionMessage extends Verdict {
  /** Of an action on several: on each, the refused ones first. */
  readonly each?: readonly Verdict[];
  /** To open, or to hand on: a credential, shown and never loaded. */
  readonly link?: string;
  /** Typed into a form that was refused: nobody types it twice. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly made?: CreatedKey;
}

const KEPT_MAX = 20;

/** Named by the address that an action leads to: a link from elsewhere can make a page say nothing. */
class Messages {
  readonly #kept = new Map<string, ActionMessage>();

  /** @returns its name */
  put(message: ActionMessage): string {
    const name = randomBytes(6).toString('base64url');
    const oldest = this.#kept.keys().next();
    if (this.#kept.size >= KEPT_MAX && oldest.done !== true) this.#kept.delete(oldest.value);
    this.#kept.set(name, message);
    return name;
  }

  /** Shown this once. */
  take(name: string | undefined): ActionMessage | null {
    const found = this.find(name);
    this.#kept.delete(name ?? '');
    return found;
  }

  find(name: string | undefined): ActionMessage | null {
    return this.#kept.get(name ?? '') ?? null;
  }
}

const NAME = 'docshelf-console';

/** Cookies know no ports (RFC 6265, section 8.5): daemons of one host tell theirs by its name. */
function cookieOf({ port }: URL, isSecure: boolean): SiteCookie {
  return new SiteCookie(port === '' ? NAME : `${NAME}-${port}`, '/', isSecure, 'Strict');
}

/** Values of the request. Over TLS those that a page without it cannot have set (RFC 6265bis, section 4.1.3.2). */
export function sessionValues(c: Context): string[] {
  const url = new URL(c.req.url);
  const isTls = url.protocol === 'https:';
  const cookies = [cookieOf(url, true), ...(isTls ? [] : [cookieOf(url, false)])];
  return cookies.flatMap((cookie) => cookie.valuesIn(c.req.header('cookie')));
}

/** A proxy may speak TLS in front: the page's own origin says so. */
export function setSession(c: Context, value: string): void {
  c.header('Set-Cookie', cookieOf(new URL(c.req.url), isSecure(c)).set(value, SESSION_MS), { append: true });
}

export function clearSession(c: Context): void {
  c.header('Set-Cookie', cookieOf(new URL(c.req.url), isSecure(c)).clear(), { append: true });
}

function isSecure(c: Context): boolean {
  return c.req.url.startsWith('https:') || (c.req.header('origin') ?? '').startsWith('https:');
}

const TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

/** @throws DocshelfError `unsupported_media_type`, `payload_too_large` */
export async function readForm(request: Request): Promise<URLSearchParams> {
  if (!TYPE.test(request.headers.get('content-type') ?? ''))
    throw new DocshelfError('unsupported_media_type', 'Cannot read the request: its body is not a form');
  const bytes = request.body === null ? Buffer.alloc(0) : await collect(request.body, BODY_BYTES_MAX);
  if (bytes !== null) return new URLSearchParams(bytes.toString());
  throw new DocshelfError('payload_too_large', 'Cannot read the request: the form is larger than 64 KiB', {
    fields: { bytesMax: BODY_BYTES_MAX },
  });
}

/** Of the field in each form that changes something. */
export const FORM_TOKEN = 'formToken';

const HELP = 'Open the console in a tab of its own, and act on its own pages.';
const BEHIND_TLS =
  'Behind a proxy that speaks TLS, name it in server.trustedProxies, and have it send X-Forwarded-Proto: https and the Host that it was asked for.';

/**
 * Refuses what another page has sent: one of another site, and one of the same host on another port, which for a browser is
 * the same site and gets its cookies (contract, section 9.5).
 * @param own the listener's origin, as its pages have it. @throws DocshelfError `forbidden`
 */
export function requireOwnPage(request: Request, own: string): void {
  const fetchSite = request.headers.get('sec-fetch-site');
  if (fetchSite !== null && fetchSite !== 'same-origin')
    throw foreign('the browser says that another page has sent it');
  const origin = request.headers.get('origin');
  if (origin === null) throw foreign('it does not say which page has sent it');
  if (origin !== own)
    throw foreign('a page of another origin has sent it', origin === tlsOrigin(own) ? BEHIND_TLS : HELP);
}

/**
 * Over TLS where the listener speaks it, or a trusted proxy before it says so. The host and its port are the same.
 * @param isTrusted whether `X-Forwarded-Proto` is believed
 */
export function ownOrigin({ url, headers }: Request, isTrusted: boolean): string {
  const isTls = isTrusted && headers.get('x-forwarded-proto')?.toLowerCase() === 'https';
  return isTls ? tlsOrigin(url) : new URL(url).origin;
}

const tlsOrigin = (url: string): string => new URL(url.replace(/^http:/, 'https:')).origin;

/** @throws DocshelfError `unauthorized` */
export function requireSession(session: ConsoleSession | null): ConsoleSession {
  if (session !== null) return session;
  throw new DocshelfError('unauthorized', 'Cannot act: nobody is signed in here, or the session has ended', {
    next: 'Sign in with the admin.token of the config, and act again.',
  });
}

/** @throws DocshelfError `forbidden` */
export function requireFormToken(given: string | null, { formToken }: ConsoleSession): void {
  if (given === null || !isSame(given, formToken))
    throw new DocshelfError('forbidden', 'Cannot act: the form is not one of this session', {
      next: 'Load the page anew, and act again.',
    });
}

function foreign(state: string, next = HELP): DocshelfError {
  return new DocshelfError('forbidden', `Cannot act on this request: ${state}`, { next });
}
