import type { Context } from 'hono';
import { SiteCookie } from '../../sign-in/sealed-cookies.ts';
import { SESSION_MS } from './sessions.ts';

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
