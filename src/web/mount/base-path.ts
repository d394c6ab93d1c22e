import { isPage } from '../../domain/release.ts';
import { decodeUnreserved, percentDecode } from '../escape.ts';
import type { PageReferences } from '../references.ts';
import { type SourceType, sourceTypeOf } from '../rewrite/source-text.ts';

/** Base path of the build (`from`) and of the served site (`to`). Both are ASCII without quotes, and begin and end with a slash. */
export type Mount = { readonly from: string; readonly to: string };

const FROM_ROOT = /^\/(?![/\\])/;

export function rebase(url: string, { from, to }: Mount): string | null {
  if (!FROM_ROOT.test(url)) return null;
  if (url.startsWith(from)) return to + url.slice(from.length);
  const bare = from.slice(0, -1);
  return url.startsWith(bare) && /^[?#]?$/.test(url.charAt(bare.length)) ? to + url.slice(bare.length) : null;
}

function withPlainPath(target: string): string {
  const end = target.search(/[?#]/);
  const path = end === -1 ? target : target.slice(0, end);
  return path.includes('%') ? decodeUnreserved(path) + target.slice(path.length) : target;
}

export type StrippedTarget =
  /** `target` is the request target without the base path, and begins with a slash. */
  | { readonly kind: 'inside'; readonly target: string }
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'outside' };

const OUTSIDE: StrippedTarget = { kind: 'outside' };

/** Removes the base path from a request target. Also matches encoded letters (RFC 3986, 6.2.2.2), but does not resolve `..`. */
export function stripBase(target: string, basePath: string): StrippedTarget {
  if (basePath === '/') return { kind: 'inside', target };
  const path = target.startsWith(basePath) ? target : withPlainPath(target);
  if (path.startsWith(basePath)) return { kind: 'inside', target: path.slice(basePath.length - 1) };
  const bare = basePath.slice(0, -1);
  const rest = path.startsWith(bare) ? path.slice(bare.length) : null;
  if (rest === null || !/^(?:$|[?#])/.test(rest)) return OUTSIDE;
  return { kind: 'redirect', location: basePath + rest.replace(/#.*$/s, '') };
}

const DEPTH_MAX = 4;
const ADDRESSES_MAX = 20_000;

type FileTable = { has(path: string): boolean };

export class BasePathVotes {
  readonly #files: FileTable;
  readonly #votes = new Map<string, number>();
  readonly #seen = new Set<string>();

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

  /** Returns the base path that most links of the pages confirm, with a slash at its end. Returns `/` if no link confirms one. */
  decide(): string {
    let [best, most] = ['/', this.#votes.get('/') ?? 0];
    for (const [base, votes] of this.#votes) if (votes > most) [best, most] = [base, votes];
    return best;
  }

  #baseOf(path: string): string | null {
    let base = '/';
    let rest = path;
    for (let depth = 0; depth <= DEPTH_MAX; depth++) {
      // Ignore a link that ends after the possible base path. It links to the start page, which would confirm any base path.
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

export function isServedPath(files: FileTable, path: string): boolean {
  if (path === '' || path.endsWith('/')) return files.has(`${path}index.html`);
  return files.has(path) || (!isPage(path) && (files.has(`${path}.html`) || files.has(`${path}/index.html`)));
}

export type MountableFile = { readonly path: string; readonly bytes: Uint8Array; readonly type: string };

/** Kinds of files to rewrite. `payload` is the `.txt` data file of a Next.js page, `data` is a JSON file that is not a manifest. */
export type MountKind = SourceType | 'payload' | 'data';

const MANIFEST_NAME = /(?:^|\/)(?:site|app|manifest)\.(?:webmanifest|json)$/;

export function kindOf(path: string, mediaType: string): MountKind | null {
  const type = sourceTypeOf(mediaType);
  if (type !== null) return type;
  if (MANIFEST_NAME.test(path)) return 'manifest';
  if (path.endsWith('.txt')) return 'payload';
  return path.endsWith('.json') ? 'data' : null;
}

/** Maximum size of a file to rewrite. Rewriting takes 100 ms per MiB, and memory of several times the file size. */
export const MOUNT_BYTES_MAX = 8 * 1024 ** 2;

export function isMountable(path: string, mediaType: string, size: number): boolean {
  const kind = kindOf(path, mediaType);
  return kind !== null && kind !== 'data' && size <= MOUNT_BYTES_MAX;
}
