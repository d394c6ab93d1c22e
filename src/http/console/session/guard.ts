import { DocshelfError } from '../../../domain/errors.ts';
import { isSame } from '../../bearer.ts';
import type { ConsoleSession } from './sessions.ts';

/** Of the field in each form that changes something. */
export const FORM_TOKEN = 'formToken';

const HELP = 'Open the console in a tab of its own, and act on its own pages.';

/**
 * Refuses what another page has sent: one of another site, and one of the same host on another port, which for a browser is
 * the same site and gets its cookies (contract, section 9.5).
 * @throws DocshelfError `forbidden`
 */
export function requireOwnPage(request: Request): void {
  const fetchSite = request.headers.get('sec-fetch-site');
  if (fetchSite !== null && fetchSite !== 'same-origin')
    throw foreign('the browser says that another page has sent it');
  const origin = request.headers.get('origin');
  if (origin === null) throw foreign('it does not say which page has sent it');
  if (!isOwn(origin, new URL(request.url))) throw foreign('a page of another origin has sent it');
}

/** A proxy may speak TLS before a listener that does not; the host and its port are the same. */
function isOwn(origin: string, own: URL): boolean {
  const url = URL.parse(origin);
  if (url === null || url.origin !== origin) return false;
  if (url.protocol !== own.protocol && url.protocol !== 'https:') return false;
  if (url.protocol === own.protocol) return url.host === own.host;
  return URL.parse(`https://${own.host}`)?.host === url.host;
}

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

function foreign(state: string): DocshelfError {
  return new DocshelfError('forbidden', `Cannot act on this request: ${state}`, { next: HELP });
}
