import { join } from 'node:path';
import { readBeginning } from '../../files/index.ts';
import { serve } from '../../threads/index.ts';
import { linkedPath, ownUrl } from '../../web/escape.ts';
import { readFirstPage } from '../../web/first-page.ts';
import { type MarkdownInput, markdownOf } from '../../web/markdown/index.ts';
import { pageText } from '../../web/media-type.ts';
import { findLinks } from '../../web/references.ts';
import { type Resolution, resolvePath } from '../../web/resolve.ts';
import { type ListAnswer, type ListedPage, llmsText, orderPages, type SiteOutline, sectionOf } from './llms-text.ts';

/** Maximum bytes of a page to read for its title and description. The head of a page with inline styles can have 100 KB. */
const HEAD_BYTES = 128 * 1024;
const NAVIGATION_BYTES = 1024 ** 2;
const SECTIONS_MAX = 200;

/** Matches paths to omit from `llms.txt`: 404 pages, books on one page, search pages, indexes of terms and modules, source code. */
const UNLISTED =
  /(?:^|\/)(?:404|_not-found|print(?:[_-](?:page|site))?|search|genindex|py-modindex)(?:\.x?html?|\/index\.x?html?)$|(?:^|\/)_modules\//i;
const NOINDEX = /<meta\b[^>]{0,200}\bname\s*=\s*["']?robots\b[^>]{0,200}\b(?:noindex|none)\b/i;

interface HeadsRequest {
  readonly siteDir: string;
  readonly pages: readonly { readonly path: string; readonly type: string }[];
  readonly builtFor: string;
  readonly basePath: string;
  readonly title: string | null;
}

/** Returns the pages to list. `navigation` contains the links of the start page, then those of the first page of each section. */
async function readHeads({ siteDir, pages, builtFor, basePath, title }: HeadsRequest): Promise<SiteOutline> {
  const types = new Map(pages.map(({ path, type }) => [path, type]));
  const listed: ListedPage[] = [];
  for (const { path, type } of pages) {
    if (UNLISTED.test(path)) continue;
    const html = pageText(await readBeginning(join(siteDir, path), HEAD_BYTES), type);
    const { title, description, language, refresh } = readFirstPage(html);
    if (refresh === null && !NOINDEX.test(html)) listed.push({ path, title, description, language });
  }
  const firsts = new Map(listed.map(({ path }) => [sectionOf(path), path]).toReversed() as [string, string][]);
  const start = listed.find(({ path }) => /^index\.x?html?$/i.test(path));
  const tellers = [...(start === undefined ? [] : [start.path]), ...firsts.values()].slice(0, SECTIONS_MAX);
  const navigation = new Set<string>();
  for (const path of new Set(tellers)) {
    const html = pageText(await readBeginning(join(siteDir, path), NAVIGATION_BYTES), types.get(path) ?? 'text/html');
    for (const page of linkedPages(html, path, builtFor, types)) navigation.add(page);
  }
  return { pages: listed, navigation: [...navigation], basePath, title };
}

function* linkedPages(html: string, from: string, builtFor: string, files: { has(path: string): boolean }) {
  const { base, references } = findLinks(html);
  const own = ownUrl(from, builtFor);
  const folder = base === null ? own : (URL.parse(base, own)?.href ?? own);
  for (const { kind, tag, url } of references) {
    const path = kind === 'link' && tag === 'a' ? linkedPath(url, folder, builtFor) : null;
    const found: Resolution | null = path === null ? null : resolvePath(files, path, 'never');
    if (found?.kind === 'file') yield found.path;
  }
}

/** Markdown is created in this thread, because a page of 400 KiB takes 200 ms (measured). */

interface MarkdownRequest extends Omit<MarkdownInput, 'html'> {
  readonly bytes: Uint8Array;
  readonly type: string;
}

export interface MarkdownResult {
  readonly markdown: string;
  readonly isLeftOut: boolean;
}

const handlers = {
  markdown: ({ bytes, type, ...page }: MarkdownRequest): MarkdownResult => {
    const { markdown, isLeftOut } = markdownOf({ ...page, html: pageText(bytes, type) });
    return { markdown, isLeftOut };
  },
  list: async (request: HeadsRequest): Promise<ListAnswer> => {
    const site = await readHeads(request);
    return { text: llmsText(site), order: orderPages(site).flatMap(({ pages }) => pages.map(({ path }) => path)) };
  },
};
export type MarkdownCalls = typeof handlers;

serve(handlers);
