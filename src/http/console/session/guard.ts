import { DocshelfError } from '../../../domain/errors.ts';
import { isSame } from '../../bearer.ts';
import type { ConsoleSession } from './sessions.ts';

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
