import { ARCHIVE_LIMITS } from '../domain/limits.ts';
import { type FileTable, OWN_FOLDER, type TrailingSlash } from '../domain/release.ts';
import { isAssetPath } from './media-type.ts';
import { RULE_FILES } from './rules/rule-file.ts';

/** Path without the ending of a page: `guide` for `guide.html` and `guide/index.html`, and an empty text for `index.html`. */
export const pageStem = (path: string): string => path.replace(/(?:(?:^|\/)index)?\.x?html?$/i, '');

export type Resolution =
  | { readonly kind: 'file'; readonly path: string }
  /** `location` is a relative URL, to resolve from the requested address. It contains no query. */
  | { readonly kind: 'redirect'; readonly location: string }
  /**
   * `notFoundPage` is the path of the 404 page in the nearest parent folder, or null if no parent folder has one. It is always
   * null if the requested path is that of an asset.
   */
  | { readonly kind: 'missing'; readonly notFoundPage: string | null };

type Paths = Pick<FileTable, 'has'>;

const PAGE_EXTENSIONS = ['.html', '.htm', '.xhtml'];
const INDEX_PAGES = PAGE_EXTENSIONS.map((extension) => `index${extension}`);
const NOT_FOUND_PAGES = ['404.html', '404/index.html'];
export const PATH_CHARS_MAX = 4096;
const WELL_KNOWN = '.well-known/';

export const isInternalPath = (path: string): boolean => `${path}/`.startsWith(OWN_FOLDER);

/** True for paths in docshelf's own folder, and for dotfiles. Only `.well-known/` at the root is not hidden (RFC 8615). */
export function isHidden(path: string): boolean {
  if (isInternalPath(path)) return true;
  const rest = path.startsWith(WELL_KNOWN) ? path.slice(WELL_KNOWN.length) : path;
  return rest.startsWith('.') || rest.includes('/.');
}

/** True for hidden files and for the site's rule files, which are never served. */
export const isWithheld = (path: string): boolean => RULE_FILES.includes(path) || isHidden(path);

function firstOf(files: Paths, prefix: string, names: readonly string[]): string | null {
  const name = names.find((each) => files.has(prefix + each));
  return name === undefined ? null : prefix + name;
}

/** Returns the last segment of a path, encoded. Encodes `:` too, because browsers would read `a:` as a scheme. */
const lastSegment = (path: string): string => encodeURIComponent(path.slice(path.lastIndexOf('/') + 1));

function resolveExactly(files: Paths, path: string, trailingSlash: TrailingSlash): Resolution | null {
  if (path === '' || path.endsWith('/')) {
    const index = firstOf(files, path, INDEX_PAGES);
    if (index !== null) return { kind: 'file', path: index };
    // If the site has only `a.html`, redirect `/a/` to `/a`, because the page's relative links would break at `/a/`.
    const withoutSlash = path.slice(0, -1);
    const page = withoutSlash === '' ? null : firstOf(files, withoutSlash, PAGE_EXTENSIONS);
    return page === null ? null : { kind: 'redirect', location: `../${lastSegment(withoutSlash)}` };
  }
  if (files.has(path)) return { kind: 'file', path };
  const page = firstOf(files, path, PAGE_EXTENSIONS);
  if (page !== null) return { kind: 'file', path: page };
  const index = firstOf(files, `${path}/`, INDEX_PAGES);
  if (index === null) return null;
  return trailingSlash === 'never'
    ? { kind: 'file', path: index }
    : { kind: 'redirect', location: `${lastSegment(path)}/` };
}

function nearestNotFoundPage(files: Paths, path: string): string | null {
  // Search only to the maximum folder depth of a bundle, because the path of a request can have far more segments.
  let end = 0;
  for (let depth = 0; depth < ARCHIVE_LIMITS.depthMax && path.includes('/', end); depth++)
    end = path.indexOf('/', end) + 1;
  for (;;) {
    const page = firstOf(files, path.slice(0, end), NOT_FOUND_PAGES);
    if (page !== null || end === 0) return page;
    end = end === 1 ? 0 : path.lastIndexOf('/', end - 2) + 1;
  }
}

/**
 * Finds the file for a path. Tries the path as given, then in Unicode NFC and NFD, because some file systems decompose names.
 * @param path decoded path without its first slash
 */
export function resolvePath(files: Paths, path: string, trailingSlash: TrailingSlash): Resolution {
  const found = findFile(files, path, trailingSlash);
  if (found !== null) return found;
  return { kind: 'missing', notFoundPage: isAssetPath(path) ? null : nearestNotFoundPage(files, path) };
}

/** Path of the file that a reader gets at `path`, directly or after a redirect. Null if no file exists. */
export function fileAt(files: Paths, path: string, trailingSlash: TrailingSlash): string | null {
  let found = findFile(files, path, trailingSlash);
  const other = path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
  if (found?.kind === 'redirect') found = findFile(files, other, trailingSlash);
  return found?.kind === 'file' ? found.path : null;
}

export function findFile(files: Paths, path: string, trailingSlash: TrailingSlash): Resolution | null {
  if (isWithheld(path) || path.length > PATH_CHARS_MAX) return null;
  const found = resolveExactly(files, path, trailingSlash);
  if (found !== null) return found;
  for (const form of ['NFC', 'NFD']) {
    const other = path.normalize(form);
    const equivalent = other === path ? null : resolveExactly(files, other, trailingSlash);
    if (equivalent !== null) return equivalent;
  }
  return null;
}
