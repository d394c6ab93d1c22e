import { percentDecode } from '../web/escape.ts';
import { PATH_CHARS_MAX } from '../web/resolve.ts';

export interface SiteRequest {
  readonly method: string;
  /** The raw request target, neither decoded nor normalised. */
  readonly target: string;
  /** @param name in lower case. Several values are joined as HTTP defines */
  header(name: string): string | undefined;
  /** Request id of response and log. Null if there is none. */
  id(): string | null;
  /** Aborted when the client leaves, until it is disposed. Absent for requests that come from no client. */
  client?(): Disposable & { readonly signal: AbortSignal };
}

type CanonicalTarget =
  /** `path`: decoded, without the leading slash. `query`: as it came, with its `?`, or empty. */
  | { readonly kind: 'path'; readonly path: string; readonly query: string }
  /** Not a request target: 400. */
  | { readonly kind: 'malformed' }
  /** Well formed, but no possible name of a file: 404. */
  | { readonly kind: 'nowhere' };

const MALFORMED: CanonicalTarget = { kind: 'malformed' };
const NOWHERE: CanonicalTarget = { kind: 'nowhere' };

/** The absolute form (RFC 9112, section 3.2.2); its authority is ignored. */
const ORIGIN = /^https?:\/\/[^/?#]*/i;
const UNNAMEABLE = /\/\/|[\\\u0000-\u001f\u007f]/;
const ENCODED_SLASH = /%2f/i;

/**
 * Decodes a raw request target, once: the URL class would already have resolved `..` and turned backslashes around. An encoded
 * slash, an empty segment, a backslash or a control character is in no name of a release; `.` and `..` are hidden with the dotfiles.
 */
export function canonicalise(target: string): CanonicalTarget {
  const relative = target.startsWith('/') ? target : target.replace(ORIGIN, '');
  const end = relative.search(/[?#]/);
  const rawPath = (end === -1 ? relative : relative.slice(0, end)) || (relative === target ? '' : '/');
  if (!rawPath.startsWith('/')) return MALFORMED;
  const query = end === -1 || relative[end] === '#' ? '' : relative.slice(end).replace(/#.*$/s, '');
  let path = rawPath;
  if (rawPath.includes('%')) {
    if (ENCODED_SLASH.test(rawPath)) return NOWHERE;
    const decoded = percentDecode(rawPath);
    if (decoded === null) return MALFORMED;
    path = decoded;
  }
  if (path.length > PATH_CHARS_MAX || UNNAMEABLE.test(path)) return NOWHERE;
  return { kind: 'path', path: path.slice(1), query };
}
