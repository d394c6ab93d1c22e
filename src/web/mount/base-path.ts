import { decodeUnreserved } from '../percent-decode.ts';

/** Where a bundle is served and what it was built for. Both begin and end with a slash; ASCII without quotes. */
export interface Mount {
  readonly from: string;
  readonly to: string;
}

/** An address from the root of the host: no host, no relative path. */
const FROM_ROOT = /^\/(?![/\\])/;

/** A root-relative address below the other base path; null for every other address, which stays. */
export function rebase(url: string, { from, to }: Mount): string | null {
  if (!FROM_ROOT.test(url)) return null;
  if (url.startsWith(from)) return to + url.slice(from.length);
  // `/docs`, `/docs?q`, `/docs#a`
  const bare = from.slice(0, -1);
  return url.startsWith(bare) && /^[?#]?$/.test(url.charAt(bare.length)) ? to + url.slice(bare.length) : null;
}

function withPlainPath(target: string): string {
  const end = target.search(/[?#]/);
  const path = end === -1 ? target : target.slice(0, end);
  return path.includes('%') ? decodeUnreserved(path) + target.slice(path.length) : target;
}

export type StrippedTarget =
  /** `target` begins with the slash that ends the base path. */
  | { readonly kind: 'inside'; readonly target: string }
  /** The base path without its last slash. */
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'outside' };

const OUTSIDE: StrippedTarget = { kind: 'outside' };
const ORIGIN = /^https?:\/\/[^/?#]*/i;

/**
 * A raw request target without the base path. Escapes of letters count as the letters (RFC 3986, section 6.2.2.2); a `..` is
 * outside.
 *
 * @param basePath with its last slash
 */
export function stripBase(target: string, basePath: string): StrippedTarget {
  if (basePath === '/') return { kind: 'inside', target };
  const written = target.startsWith('/') ? target : target.replace(ORIGIN, '');
  const path = written.startsWith(basePath) ? written : withPlainPath(written);
  if (path.startsWith(basePath)) return { kind: 'inside', target: path.slice(basePath.length - 1) };
  const bare = basePath.slice(0, -1);
  const rest = path.startsWith(bare) ? path.slice(bare.length) : null;
  if (rest === null || !/^(?:$|[?#])/.test(rest)) return OUTSIDE;
  return { kind: 'redirect', location: basePath + rest.replace(/#.*$/s, '') };
}
