import { readFile } from 'node:fs/promises';
import type { CrawlSettings } from '../../domain/crawl.ts';
import { badSource } from '../../domain/site-source.ts';
import type { FileStore } from '../../files/file-store.ts';
import { UNNAMED_FILES } from '../../web/rewrite/index.ts';
import type { Crawl } from '../crawl.ts';
import { type Entry, hasContent } from '../entry.ts';
import { Robots } from '../robots.ts';
import type { Scope } from '../scope.ts';

/** As sites call theirs: most, WordPress, Astro. */
const SITEMAPS = ['sitemap.xml', 'sitemap_index.xml', 'sitemap-index.xml'];
/** Sitemaps that a robots.txt may name. */
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
  // RFC 9309, section 2.3.1.4: what cannot be reached disallows everything. A page in its place has no rule in it.
  if (entry.fetched === null && !entry.isPageInstead)
    throw badSource(settings.url, 'its robots.txt cannot be fetched', next);
  if (!robots.allows(new URL(settings.url)))
    throw badSource(settings.url, 'its robots.txt disallows the start page', next);
  crawl.useRobots(robots);
  return robots;
}

/** Names where a crawl of a whole site begins: the start page, and the files that list others. */
export function nameSeeds(settings: CrawlSettings, scope: Scope, robots: Robots, crawl: Crawl): void {
  const start = scope.canonical(new URL(settings.url));
  if (start !== null) crawl.name(start, { askedAs: 'link', referrer: '', depth: 0 });
  const folders = [...new Set([`${scope.origin}/`, scope.origin + scope.prefix])];
  const sitemaps = [...robots.sitemaps, ...folders.flatMap((folder) => SITEMAPS.map((name) => folder + name))];
  for (const sitemap of sitemaps.slice(0, SITEMAPS_MAX)) {
    const url = URL.parse(sitemap, scope.origin);
    // A sitemap speaks for its own host (sitemaps.org).
    const canonical = url === null || !scope.isOwn(url) ? null : scope.canonical(url);
    if (canonical !== null) crawl.name(canonical, { ...KNOWN, askedAs: 'sitemap' });
  }
  crawl.name(`${scope.origin}/favicon.ico`, { ...KNOWN, askedAs: 'known_file' });
  for (const folder of folders) {
    crawl.name(`${folder}llms.txt`, { ...KNOWN, askedAs: 'llms' });
    crawl.name(`${folder}llms-full.txt`, { ...KNOWN, askedAs: 'known_file' });
    for (const name of UNNAMED_FILES) crawl.name(folder + name, { ...KNOWN, askedAs: 'known_file' });
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

async function contentOf(entry: Entry, store: FileStore): Promise<Buffer | null> {
  return hasContent(entry) ? readFile(store.pathOf(entry.fetched.content.sha256)) : null;
}
