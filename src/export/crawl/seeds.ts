import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { CrawlSettings } from '../../domain/crawl.ts';
import type { FileStore } from '../file-store.ts';
import { badSource } from '../sources/bad-source.ts';
import type { Crawl } from './crawl.ts';
import { type Entry, hasContent } from './entry.ts';
import { llmsLinks } from './llms-links.ts';
import { Robots } from './robots.ts';
import type { Scope } from './scope.ts';
import { readSitemap, SITEMAP_BYTES_MAX } from './sitemap.ts';

/** Sitemaps of a site: an index may hold 50,000, and each of those as many pages. */
const SITEMAPS_MAX = 500;
const KNOWN: { readonly depth: number; readonly isOptional: boolean; readonly referrer: string } = {
  depth: 0,
  isOptional: true,
  referrer: '',
};

/** Reads robots.txt, where it holds. @throws DocshelfError `bad_source` where it cannot be read, or disallows the start */
export async function readRobots(
  settings: CrawlSettings,
  scope: Scope,
  crawl: Crawl,
  store: FileStore,
): Promise<Robots> {
  const entry = await crawl.visit(`${scope.origin}/robots.txt`, { ...KNOWN, askedAs: 'known_file' });
  const bytes = await contentOf(entry, store);
  const robots = bytes === null ? Robots.none() : Robots.parse(bytes.toString('utf8'));
  if (settings.robots === 'ignore') return robots;
  const next =
    'Allow docshelf in the robots.txt of the site, or, where the site is your own, set robots: ignore in the source.';
  // RFC 9309, section 2.3.1.4: what cannot be reached disallows everything.
  if (entry.fetched === null) throw badSource(settings.url, 'its robots.txt cannot be fetched', next);
  if (!robots.allows(new URL(settings.url)))
    throw badSource(settings.url, 'its robots.txt disallows the start page', next);
  crawl.useRobots(robots);
  return robots;
}

/** Names where a crawl of a whole site begins: the start page, and what its sitemaps and its `llms.txt` name. */
export async function nameSeeds(
  settings: CrawlSettings,
  scope: Scope,
  robots: Robots,
  crawl: Crawl,
  store: FileStore,
): Promise<void> {
  const folders = [...new Set([`${scope.origin}/`, scope.origin + scope.prefix])];
  const found = await Promise.all([
    ...folders.map((folder) => linksOfLlms(`${folder}llms.txt`, crawl, store)),
    linksOfSitemaps([...robots.sitemaps, ...folders.map((folder) => `${folder}sitemap.xml`)], scope, crawl, store),
  ]);
  nameLink(crawl, scope, settings.url, '');
  for (const { link, from } of found.flat()) nameLink(crawl, scope, link, from);
  const known = { ...KNOWN, askedAs: 'known_file' } as const;
  for (const url of [`${scope.origin}/favicon.ico`, ...folders.map((folder) => `${folder}llms-full.txt`)]) {
    crawl.name(url, known);
  }
}

/** Names the pages that a request is limited to, as readers write them. */
export function namePaths(paths: readonly string[], scope: Scope, crawl: Crawl): Map<string, string> {
  const urls = new Map<string, string>();
  for (const path of paths) {
    const url = URL.parse(path.startsWith('/') ? path : `/${path}`, scope.origin);
    const canonical = url === null || url.origin !== scope.origin ? null : scope.canonical(url);
    if (canonical === null) continue;
    crawl.name(canonical, { askedAs: 'link', referrer: '', depth: 0 });
    urls.set(path, canonical);
  }
  return urls;
}

/** An address as written, and the file that names it. */
interface FoundLink {
  readonly link: string;
  readonly from: string;
}

async function linksOfLlms(url: string, crawl: Crawl, store: FileStore): Promise<FoundLink[]> {
  const entry = await crawl.visit(url, { ...KNOWN, askedAs: 'known_file' });
  const text = (await contentOf(entry, store))?.toString('utf8') ?? '';
  return llmsLinks(text).map((link) => ({ link, from: url }));
}

async function linksOfSitemaps(
  first: readonly string[],
  scope: Scope,
  crawl: Crawl,
  store: FileStore,
): Promise<FoundLink[]> {
  const known = new Set<string>();
  const waiting = [...first];
  const links: FoundLink[] = [];
  for (let url = waiting.shift(); url !== undefined && known.size < SITEMAPS_MAX; url = waiting.shift()) {
    const parsed = URL.parse(url, scope.origin);
    // A sitemap speaks for its own host (sitemaps.org).
    const canonical = parsed === null || !scope.isOwn(parsed) ? null : scope.canonical(parsed);
    if (canonical === null || known.has(canonical)) continue;
    known.add(canonical);
    const entry = await crawl.visit(canonical, { ...KNOWN, askedAs: 'known_file' });
    const { pages, sitemaps } = readSitemap(await sitemapText(entry, store));
    waiting.push(...sitemaps);
    for (const link of pages) links.push({ link, from: canonical });
  }
  return links;
}

async function sitemapText(entry: Entry, store: FileStore): Promise<string> {
  const bytes = await contentOf(entry, store);
  if (bytes === null || bytes.length > SITEMAP_BYTES_MAX) return '';
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes.toString('utf8');
  const unpacked = await promisify(gunzip)(bytes, { maxOutputLength: SITEMAP_BYTES_MAX }).catch(() => null);
  return unpacked?.toString('utf8') ?? '';
}

function nameLink(crawl: Crawl, scope: Scope, link: string, from: string): void {
  const url = from === '' ? URL.parse(link) : URL.parse(link, from);
  const canonical = url === null || !scope.isOwn(url) ? null : scope.canonical(url);
  if (canonical !== null) crawl.name(canonical, { askedAs: 'link', referrer: from, depth: 0 });
}

async function contentOf(entry: Entry, store: FileStore): Promise<Buffer | null> {
  return hasContent(entry) ? readFile(store.pathOf(entry.fetched.content.sha256)) : null;
}
