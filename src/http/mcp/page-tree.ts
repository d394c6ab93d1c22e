import { firstFrom } from '../../files/hash-slots.ts';

/** What stands in a folder. */
export type TreeEntry =
  | { readonly kind: 'page'; readonly path: string }
  /** `pages`: below it, at any depth. */
  | { readonly kind: 'folder'; readonly path: string; readonly pages: number };

export interface TreeQuestion {
  /** With a slash at both ends. */
  readonly folder: string;
  /** All pages below it, without folders. */
  readonly isRecursive: boolean;
  /** Path of the last entry before; null: from the first. */
  readonly after: string | null;
  readonly limit: number;
}

export interface TreeAnswer {
  readonly entries: readonly TreeEntry[];
  /** Of the folder. */
  readonly total: number;
  /** Path to go on after; null: these were the last. */
  readonly next: string | null;
}

/** @param pages in the order of UTF-16 code units */
export function listTree(pages: readonly string[], { folder, isRecursive, after, limit }: TreeQuestion): TreeAnswer {
  const inside = pages.slice(
    firstPathFrom(pages, folder),
    firstPathFrom(pages, `${folder.slice(0, -1)}${BEHIND_SLASH}`),
  );
  const own = folder === '/' ? undefined : pages[firstPathFrom(pages, folder.slice(0, -1))];
  // `/guides` is the page of `/guides/` where the site writes folders without their slash.
  const below = own === folder.slice(0, -1) ? [own, ...inside] : inside;
  const entries = isRecursive ? below.map(pageEntry) : entriesOf(below, folder);
  const rest = after === null ? entries : entries.filter(({ path }) => path > after);
  const shown = rest.slice(0, limit);
  return { entries: shown, total: entries.length, next: rest.length > limit ? (shown.at(-1)?.path ?? null) : null };
}

/** The character that follows the slash. */
const BEHIND_SLASH = '0';

const pageEntry = (path: string): TreeEntry => ({ kind: 'page', path });

function entriesOf(pages: readonly string[], folder: string): TreeEntry[] {
  const entries: TreeEntry[] = [];
  const counts = new Map<string, number>();
  for (const page of pages) {
    const slash = page.indexOf('/', folder.length);
    if (slash === -1 || page === folder) entries.push(pageEntry(page));
    else {
      const path = page.slice(0, slash + 1);
      counts.set(path, (counts.get(path) ?? 0) + 1);
    }
  }
  for (const [path, count] of counts) {
    // A folder with its own page alone is that page.
    const isPage = count === 1 && pages[firstPathFrom(pages, path)] === path;
    entries.push(isPage ? pageEntry(path) : { kind: 'folder', path, pages: count });
  }
  return entries.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Place of the first path that is not before this one. */
const firstPathFrom = (pages: readonly string[], path: string): number =>
  firstFrom(pages.length, (at) => (pages[at] ?? '') < path);
