import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { AskedAs } from '../ask/answer-type.ts';
import type { ContentEntry } from '../entry.ts';
import type { Scope } from '../scope.ts';
import { llmsLinks } from './llms-links.ts';
import { segmentsOf } from './next-segments.ts';
import { pagefindFilesOfEntry, pagefindFilesOfMeta } from './pagefind.ts';
import { isSitemapPath, readSitemap, SITEMAP_BYTES_MAX } from './sitemap.ts';

/** An address that a file lists, which is no page and no code. */
export interface ListedUrl {
  /** Canonical. */
  readonly url: string;
  readonly askedAs: AskedAs;
}

const SEGMENT_TREE = /\/__next\._tree\.txt$/;
const PAGEFIND = /\/(?:pagefind-entry\.json|pagefind\.[\w-]+\.pf_meta)$/;
/** The tree of a route is small; what is larger is none. */
const TREE_BYTES_MAX = 256 * 1024;

/** Whether a file lists addresses: for what it was asked for, or by its name. */
export function isList({ url, askedAs }: Pick<ContentEntry, 'url' | 'askedAs'>): boolean {
  if (askedAs === 'sitemap' || askedAs === 'llms') return true;
  const { pathname } = new URL(url);
  return isSitemapPath(pathname) || SEGMENT_TREE.test(pathname) || PAGEFIND.test(pathname);
}

/** The site's own addresses that a file of the site lists. @param file with its content */
export async function urlsListedIn(entry: ContentEntry, file: string, scope: Scope): Promise<ListedUrl[]> {
  const { url, askedAs, fetched } = entry;
  if (fetched.content.size > SITEMAP_BYTES_MAX || !scope.isOwn(new URL(url))) return [];
  const bytes = await readFile(file);
  const own = (links: readonly string[], as: AskedAs): ListedUrl[] =>
    links.flatMap((link) => {
      const target = URL.parse(link, url);
      const canonical = target === null || !scope.isOwn(target) ? null : scope.canonical(target);
      return canonical === null ? [] : [{ url: canonical, askedAs: as }];
    });
  if (askedAs === 'llms') return own(llmsLinks(bytes.toString('utf8')), 'link');
  if (SEGMENT_TREE.test(url)) {
    if (bytes.length > TREE_BYTES_MAX) return [];
    const names = segmentsOf(bytes.toString('utf8')).map((name) => `./__next.${encodeURI(name)}.txt`);
    return own(names, 'known_file');
  }
  const { pathname } = new URL(url);
  if (PAGEFIND.test(pathname)) {
    const names = pathname.endsWith('.json')
      ? pagefindFilesOfEntry(bytes.toString('utf8'))
      : pagefindFilesOfMeta(bytes);
    return own(names, 'known_file');
  }
  const { pages, sitemaps } = readSitemap(await unpacked(bytes));
  return [...own(sitemaps, 'sitemap'), ...own(pages, 'link')];
}

async function unpacked(bytes: Buffer): Promise<string> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes.toString('utf8');
  const text = await promisify(gunzip)(bytes, { maxOutputLength: SITEMAP_BYTES_MAX }).catch(() => null);
  return text?.toString('utf8') ?? '';
}
