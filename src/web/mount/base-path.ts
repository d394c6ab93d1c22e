import { isPage } from '../../domain/release.ts';
import { decodeUnreserved, percentDecode } from '../escape.ts';
import type { PageReferences } from '../references.ts';
import { type SourceType, sourceTypeOf } from '../rewrite/source-text.ts';

/** The base path that a bundle was built for, and the one it is served at. Both begin and end with a slash; ASCII without quotes. */
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

/** Segments of the deepest base path that is recognised. */
const DEPTH_MAX = 4;
/** Distinct addresses that are looked up; the pages of a site share most. */
const ADDRESSES_MAX = 20_000;

type FileTable = { has(path: string): boolean };

/** Votes, page by page, on the base path that a site was built for: the folder that its root-relative references lie below. */
export class BasePathVotes {
  readonly #files: FileTable;
  readonly #votes = new Map<string, number>();
  readonly #seen = new Set<string>();

  /** @param files the site's paths, without a leading slash. */
  constructor(files: FileTable) {
    this.#files = files;
  }

  addReferences({ references }: PageReferences): void {
    for (const { url } of references) {
      if (!url.startsWith('/') || url.startsWith('//')) continue;
      const path = percentDecode(url.replace(/[?#].*$/s, ''))?.slice(1);
      if (path === undefined || this.#seen.has(path) || this.#seen.size >= ADDRESSES_MAX) continue;
      this.#seen.add(path);
      const base = this.#baseOf(path);
      if (base !== null) this.#votes.set(base, (this.#votes.get(base) ?? 0) + 1);
    }
  }

  /** With its last slash; `/` without votes. */
  decide(): string {
    let [best, most] = ['/', this.#votes.get('/') ?? 0];
    for (const [base, votes] of this.#votes) if (votes > most) [best, most] = [base, votes];
    return best;
  }

  /** The shortest folder below which the address is a file of the site; null if it is none. */
  #baseOf(path: string): string | null {
    let base = '/';
    let rest = path;
    for (let depth = 0; depth <= DEPTH_MAX; depth++) {
      // The root's own page fits below every folder.
      if ((rest !== '' || depth === 0) && isServedPath(this.#files, rest)) return base;
      const slash = rest.indexOf('/');
      if (slash <= 0) return null;
      base += rest.slice(0, slash + 1);
      if (!/^[\w./~-]+$/.test(base)) return null;
      rest = rest.slice(slash + 1);
    }
    return null;
  }
}

/** True if a path, decoded and without leading slash, is a file or a page of the site. */
export function isServedPath(files: FileTable, path: string): boolean {
  if (path === '' || path.endsWith('/')) return files.has(`${path}index.html`);
  return files.has(path) || (!isPage(path) && (files.has(`${path}.html`) || files.has(`${path}/index.html`)));
}

/** Which files are rewritten, without the parsers that do it. */
export interface MountableFile {
  /** Without a leading slash. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Media type with its charset. */
  readonly type: string;
}

/** `payload`: the `.txt` of a Next.js page; `data`: JSON that a page loads. */
export type MountKind = SourceType | 'payload' | 'data';

const MANIFEST_NAME = /(?:^|\/)(?:site|app|manifest)\.(?:webmanifest|json)$/;

/** How a file is read; null for one whose bytes stay, whatever they are. */
export function kindOf(path: string, mediaType: string): MountKind | null {
  const type = sourceTypeOf(mediaType);
  if (type !== null) return type;
  if (MANIFEST_NAME.test(path)) return 'manifest';
  if (path.endsWith('.txt')) return 'payload';
  return path.endsWith('.json') ? 'data' : null;
}

/** Larger files are served as they are: rewriting takes 100 ms a MiB, and several times the file in memory. */
export const MOUNT_BYTES_MAX = 8 * 1024 ** 2;

/** True if `mountFile` may give other bytes. */
export function isMountable(path: string, mediaType: string, size: number): boolean {
  const kind = kindOf(path, mediaType);
  return kind !== null && kind !== 'data' && size <= MOUNT_BYTES_MAX;
}
