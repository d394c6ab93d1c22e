import { createHash, randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import { LRUCache } from 'lru-cache';
import type { ReleaseRef } from '../../deploy/index.ts';
import { DocshelfError, type Problem } from '../../domain/errors.ts';
import { BODY_BYTES_MAX } from '../../domain/limits.ts';
import type { Secret } from '../../domain/secret.ts';
import { counted } from '../../domain/text.ts';
import { collect } from '../../files/index.ts';
import { isSame } from '../bearer.ts';
import type { CreatedKey } from '../keys/key-schemas.ts';
import { SiteCookie } from '../sign-in/sealed-cookies.ts';

/** Maximum lifetime of a session: a working day. */
const SESSION_MS = 12 * 3600_000;
/** Maximum sessions. Each takes 2 KiB with its messages. The least recently used session is dropped first. */
const SESSIONS_MAX = 1_000;

export interface ConsoleSession {
  /** Name of the session in audit lines. It is not a credential. */
  readonly name: string;
  readonly formToken: string;
  readonly messages: Messages;
  readonly token: Secret;
}

/** A restart, or a change of the admin token, ends all sessions. */
export class Sessions {
  readonly #token: () => Secret | null;
  /** Sessions by the digest of the cookie's value, so that a memory dump does not contain a valid cookie. */
  readonly #kept = new LRUCache<string, ConsoleSession>({ max: SESSIONS_MAX, ttl: SESSION_MS, ttlResolution: 0 });

  constructor(token: () => Secret | null) {
    this.#token = token;
  }

  /** Opens a session. @param token admin token that was just verified @returns value of the cookie */
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

  isOpen(session: ConsoleSession): boolean {
    return session.token.equals(this.#token()) && [...this.#kept.values()].includes(session);
  }

  end(values: readonly string[]): void {
    for (const value of values) this.#kept.delete(keyOf(value));
  }
}

const keyOf = (value: string): string => createHash('sha256').update(value).digest('hex');

export interface Verdict {
  readonly text: string;
  readonly problem: Problem | null;
}

export interface ActionMessage extends Verdict {
  readonly each?: readonly Verdict[];
  /** Link that contains a credential, such as a preview link. The page shows the link, but never requests its target. */
  readonly link?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly made?: CreatedKey;
  readonly undo?: readonly Undo[];
}

export function summaryOf(each: readonly Verdict[], noun: string, done: string): ActionMessage {
  const failed = each.filter(({ problem }) => problem !== null);
  const well = each.filter(({ problem }) => problem === null);
  const text = `${well.length} of ${counted(each.length, noun)} ${each.length === 1 ? 'was' : 'were'} ${done}`;
  return { text, problem: null, each: [...failed, ...well] };
}

export interface Undo {
  readonly domain: string;
  readonly activated: ReleaseRef;
  readonly former: ReleaseRef;
  /** True for a rollback. To undo a rollback, docshelf activates `former`: a second rollback would activate another release. */
  readonly isOfRollback: boolean;
}

const KEPT_MAX = 20;

/** Result messages by name. Addresses contain only the name, so that a foreign link cannot make a page show arbitrary text. */
class Messages {
  readonly #kept = new LRUCache<string, ActionMessage>({ max: KEPT_MAX });

  put(message: ActionMessage): string {
    const name = randomBytes(6).toString('base64url');
    this.#kept.set(name, message);
    return name;
  }

  take(name: string | undefined): ActionMessage | null {
    const found = this.find(name);
    this.#kept.delete(name ?? '');
    return found;
  }

  find(name: string | undefined): ActionMessage | null {
    return this.#kept.get(name ?? '') ?? null;
  }
}

const COOKIE_NAME = 'docshelf-console';

/** The cookie name contains the port, because daemons on different ports of a host share cookies (RFC 6265, section 8.5). */
function cookieOf({ port }: URL, isSecure: boolean): SiteCookie {
  return new SiteCookie(port === '' ? COOKIE_NAME : `${COOKIE_NAME}-${port}`, '/', isSecure, 'Strict');
}

export function sessionValues(c: Context): string[] {
  const url = new URL(c.req.url);
  const isTls = url.protocol === 'https:';
  const cookies = [cookieOf(url, true), ...(isTls ? [] : [cookieOf(url, false)])];
  return cookies.flatMap((cookie) => cookie.valuesIn(c.req.header('cookie')));
}

export function setSession(c: Context, value: string): void {
  c.header('Set-Cookie', cookieOf(new URL(c.req.url), isSecure(c)).set(value, SESSION_MS), { append: true });
}

export function clearSession(c: Context): void {
  c.header('Set-Cookie', cookieOf(new URL(c.req.url), isSecure(c)).clear(), { append: true });
}

function isSecure(c: Context): boolean {
  return c.req.url.startsWith('https:') || (c.req.header('origin') ?? '').startsWith('https:');
}

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

export async function readForm(request: Request): Promise<URLSearchParams> {
  if (!FORM_TYPE.test(request.headers.get('content-type') ?? ''))
    throw new DocshelfError('unsupported_media_type', 'Cannot read the request: its body is not a form');
  const bytes = request.body === null ? Buffer.alloc(0) : await collect(request.body, BODY_BYTES_MAX);
  if (bytes !== null) return new URLSearchParams(bytes.toString());
  throw new DocshelfError('payload_too_large', 'Cannot read the request: the form is larger than 64 KiB', {
    fields: { bytesMax: BODY_BYTES_MAX },
  });
}

export const FORM_TOKEN = 'formToken';

const OWN_PAGE_HELP = 'Open the console in a separate tab and use its forms.';
const BEHIND_TLS_HELP =
  'If a proxy terminates TLS, add it to server.trustedProxies. Configure the proxy to send X-Forwarded-Proto: https and the original Host.';

/** Checks the origin, because browsers send the session cookie also for pages on other ports of the host. */
export function requireOwnPage(request: Request, own: string): void {
  const fetchSite = request.headers.get('sec-fetch-site');
  if (fetchSite !== null && fetchSite !== 'same-origin') throw foreign('the browser reports that another site sent it');
  const origin = request.headers.get('origin');
  if (origin === null) throw foreign('it has no Origin header');
  if (origin !== own)
    throw foreign('a page of another origin sent it', origin === tlsOrigin(own) ? BEHIND_TLS_HELP : OWN_PAGE_HELP);
}

/** Returns the origin of the console's pages. @param isTrusted true to use `X-Forwarded-Proto`, because the proxy can terminate TLS */
export function ownOrigin({ url, headers }: Request, isTrusted: boolean): string {
  const isTls = isTrusted && headers.get('x-forwarded-proto')?.toLowerCase() === 'https';
  return isTls ? tlsOrigin(url) : new URL(url).origin;
}

const tlsOrigin = (url: string): string => new URL(url.replace(/^http:/, 'https:')).origin;

export function requireSession(session: ConsoleSession | null): ConsoleSession {
  if (session !== null) return session;
  throw new DocshelfError(
    'unauthorized',
    'Cannot perform the action: you are not signed in, or the session has ended',
    {
      next: 'Sign in with the admin.token of the config, then try again.',
    },
  );
}

export function requireFormToken(given: string | null, { formToken }: ConsoleSession): void {
  if (given === null || !isSame(given, formToken))
    throw new DocshelfError('forbidden', 'Cannot perform the action: the form belongs to another session', {
      next: 'Reload the page, then try again.',
    });
}

function foreign(state: string, next = OWN_PAGE_HELP): DocshelfError {
  return new DocshelfError('forbidden', `Cannot accept the request: ${state}`, { next });
}
