import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { filesOfGenerators, isGeneratorFile } from '../../web/rewrite/index.ts';
import type { AskedAs } from '../ask/answer-type.ts';
import type { ContentEntry } from '../entry.ts';
import type { Scope } from '../scope.ts';
import { isSitemapPath, llmsLinks, readSitemap, SITEMAP_BYTES_MAX } from './sitemap.ts';

/** An address that a file lists, which is no page and no code. */
export interface ListedUrl {
  /** Canonical. */
  readonly url: string;
  readonly askedAs: AskedAs;
}

/** True for files that list addresses: by what they were asked for as, or by their name. */
export function isList({ url, askedAs }: Pick<ContentEntry, 'url' | 'askedAs'>): boolean {
  if (askedAs === 'sitemap' || askedAs === 'llms') return true;
  const { pathname } = new URL(url);
  return isSitemapPath(pathname) || isGeneratorFile(pathname);
}

/** The site's own addresses that a file of the site lists. @param file with its content */
export async function urlsListedIn(entry: ContentEntry, file: string, scope: Scope): Promise<ListedUrl[]> {
  const { url, askedAs, fetched } = entry;
  if (fetched.content.size > SITEMAP_BYTES_MAX || !scope.isOwn(new URL(url))) return [];
  const bytes = await unpacked(await readFile(file));
  const own = (links: readonly string[], as: AskedAs): ListedUrl[] =>
    links.flatMap((link) => {
      const target = URL.parse(link, url);
      const canonical = target === null || !scope.isOwn(target) ? null : scope.canonical(target);
      return canonical === null ? [] : [{ url: canonical, askedAs: as }];
    });
  if (askedAs === 'llms') return own(llmsLinks(bytes.toString('utf8')), 'link');
  const { pathname } = new URL(url);
  if (isGeneratorFile(pathname)) {
    const source = { text: bytes.toString('latin1'), path: pathname, named: [] };
    return own(filesOfGenerators('file', source), 'known_file');
  }
  const { pages, sitemaps } = readSitemap(bytes.toString('utf8'));
  return [...own(sitemaps, 'sitemap'), ...own(pages, 'link')];
}

/** Empty where it is no whole gzip, or too large. */
async function unpacked(bytes: Buffer): Promise<Buffer> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  return promisify(gunzip)(bytes, { maxOutputLength: SITEMAP_BYTES_MAX }).catch(() => Buffer.alloc(0));
}
