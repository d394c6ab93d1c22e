import { readFile } from 'node:fs/promises';
import type { CrawlSettings } from '../domain/crawl.ts';
import { badSource } from '../domain/job.ts';
import { linkWithoutSecrets } from '../domain/secret.ts';
import type { FileStore } from '../files/file-store.ts';
import { UNNAMED_FILES } from '../web/rewrite/index.ts';
import { isPageType } from './ask/answer-type.ts';
import { mediaTypeOf } from './ask/fetched-url.ts';
import type { Responder } from './ask/responder.ts';
import type { Crawl } from './crawl.ts';
import { type Entry, hasContent } from './entry.ts';
import type { PageThreads } from './pages/page-threads.ts';
import { Robots } from './robots.ts';
import { prefixOf, type Scope, type ScopeSettings } from './scope.ts';

const REDIRECTS_MAX = 10;

/**
 * Redirects within the host are followed; the folder stays that of the config. A host that the start page says it is
 * published at, by the same path, is the site's too: often a server within is crawled.
 * @throws DocshelfError `bad_source` where no page of the site is there
 */
export async function findScope(
  { url }: Pick<CrawlSettings, 'url'>,
  hosts: readonly string[],
  responder: Responder,
  threads: PageThreads,
): Promise<ScopeSettings> {
  const start = new URL(url);
  const fail = (
    state: string,
    next = 'Set the url of the source to a page of the site that answers without further ado.',
  ) => badSource(linkWithoutSecrets(url), state, next);
  let at = plain(start);
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    const answer = await responder.look(at.href);
    if (answer.kind === 'failed') {
      throw fail(
        `its start page cannot be fetched: ${answer.state}`,
        'Check the url of the source, that the site is up, and that docshelf can reach it: private addresses only where allowAddresses lists them.',
      );
    }
    const { status, location } = answer.fetched;
    if (status === 200) {
      const type = mediaTypeOf(answer.fetched);
      if (type !== '' && !isPageType(type)) throw fail(`its start page is ${type}, and no HTML page`);
      const content = answer.bytes ?? answer.fetched.content;
      const published = content === null ? null : await threads.publishedHost({ url: at.href, content });
      const all = published === null || hosts.includes(published) ? hosts : [...hosts, published];
      return { origin: at.origin, prefix: prefixOf(start), hosts: all };
    }
    if (location === null) throw fail(`its start page answers ${status}`);
    const target = new URL(location);
    const isSameSite = target.hostname === start.hostname || hosts.includes(target.hostname);
    if (!isSameSite || !/^https?:$/.test(target.protocol)) {
      throw fail(
        `it redirects to "${linkWithoutSecrets(location)}", which is another site`,
        'Set the url of the source to the site that is to be exported.',
      );
    }
    at = plain(target);
  }
  throw fail(`its start page leads to over ${REDIRECTS_MAX} redirects`);
}

function plain(url: URL): URL {
  return new URL(`${url.pathname}${url.search}`, url.origin);
}

/** Most sites, WordPress, Astro. */
const SITEMAPS = ['sitemap.xml', 'sitemap_index.xml', 'sitemap-index.xml'];
const SITEMAPS_MAX = 500;
const KNOWN = { depth: 0, isOptional: true, referrer: '' } as const;

/** @throws DocshelfError `bad_source` where robots.txt cannot be fetched, or disallows the start */
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
  // One that cannot be reached disallows everything (RFC 9309, section 2.3.1.4). A page in its place has no rule.
  if (entry.fetched === null && !entry.isPageInstead)
    throw badSource(settings.url, 'its robots.txt cannot be fetched', next);
  if (!robots.allows(new URL(settings.url)))
    throw badSource(settings.url, 'its robots.txt disallows the start page', next);
  crawl.useRobots(robots);
  return robots;
}

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

/** @returns their addresses */
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
