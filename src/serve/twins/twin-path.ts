import type { FileTable } from '../../domain/release.ts';

const PAGE_EXTENSIONS = ['.html', '.htm', '.xhtml'];
const PAGE_EXTENSION = /\.(?:html|htm|xhtml)$/i;
const INDEX_NAME = /(?:^|\/)index$/;
const TWIN = '.md';

type Paths = Pick<FileTable, 'has'>;

/**
 * The page whose Markdown a path is: `guide/start.md` and `guide/start.html.md` (llmstxt.org) are that of `guide/start.html`,
 * `guide.md` and `guide/index.md` that of `guide/index.html`. Null for what is no such path.
 */
export function pageOfTwin(files: Paths, path: string): string | null {
  if (!path.endsWith(TWIN)) return null;
  const stem = path.slice(0, -TWIN.length);
  if (stem === '' || stem.endsWith('/')) return null;
  if (PAGE_EXTENSION.test(stem)) return files.has(stem) ? stem : null;
  const names = [...PAGE_EXTENSIONS, ...PAGE_EXTENSIONS.map((extension) => `/index${extension}`)];
  return names.map((name) => stem + name).find((page) => files.has(page)) ?? null;
}

/** Where a bundle has the Markdown of a page beside it; null where it brings none. */
export function ownTwin(files: Paths, page: string): string | null {
  const stem = page.replace(PAGE_EXTENSION, '');
  const folder = stem.replace(INDEX_NAME, '');
  const paths = [stem + TWIN, page + TWIN, ...(folder === stem || folder === '' ? [] : [folder + TWIN])];
  return paths.find((path) => files.has(path)) ?? null;
}

/** The path of a page's Markdown: the one that links name. */
export const twinOf = (page: string): string => page.replace(PAGE_EXTENSION, '') + TWIN;
