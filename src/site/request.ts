import { percentDecode } from '../web/escape.ts';
import { PATH_CHARS_MAX } from '../web/resolve.ts';

export interface SiteRequest {
  readonly method: string;
  readonly target: string;
  /** @param name header in lower case @returns all values of the header, joined as HTTP defines */
  header(name: string): string | undefined;
  id(): string | null;
  /**
   * Returns a signal that aborts if the client disconnects before the caller disposes of the returned object. The method is
   * absent for requests without a client.
   */
  client?(): Disposable & { readonly signal: AbortSignal };
}

type CanonicalTarget =
  /** `path` is decoded, without the leading slash. `query` is raw, with its `?`, or empty. */
  | { readonly kind: 'path'; readonly path: string; readonly query: string }
  | { readonly kind: 'malformed' }
  /** Well-formed target that cannot be a path of a file. docshelf responds with 404. */
  | { readonly kind: 'nowhere' };

const MALFORMED: CanonicalTarget = { kind: 'malformed' };
const NOWHERE: CanonicalTarget = { kind: 'nowhere' };

const UNNAMEABLE = /\/\/|[\\\u0000-\u001f\u007f]/;
const ENCODED_SLASH = /%2f/i;

/** Decodes a request target. Does not use the URL class, because a target with `..` or a backslash must not result in a file. */
export function canonicalise(target: string): CanonicalTarget {
  const [, rawPath = '', query = ''] = /^([^?#]*)(\?[^#]*)?/.exec(target) ?? [];
  if (!rawPath.startsWith('/')) return MALFORMED;
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
