import { addAbortListener } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import type { CrawlOptions, CrawlSettings } from '../domain/crawl.ts';
import { badSource, type ExportRequest, type SiteSource } from '../domain/job.ts';
import { linkWithoutSecrets } from '../domain/secret.ts';
import { counted } from '../domain/text.ts';
import { FileStore } from '../files/file-store.ts';
import type { EgressPolicy } from '../net/egress.ts';
import { UNNAMED_FILES } from '../web/rewrite/generators/index.ts';
import { CrawlFindings, Robots } from './admission.ts';
import { Crawl } from './crawl.ts';
import { openJournal, readRecord, writeRecord } from './crawl-record.ts';
import { type Entry, hasContent, isMissing, isPageType, mediaTypeOf } from './entry.ts';
import { crawlPolicy, openFetcher } from './fetcher.ts';
import { PageThreads } from './pages/page-threads.ts';
import { publishedHost } from './pages/page-work.ts';
import { livePagesOf, PageRendering, type PageRenderingOptions, writeLivePages } from './render/live-site.ts';
import { Responder } from './responder.ts';
import { prefixOf, Scope, type ScopeSettings } from './scope.ts';
import { writeSite } from './write-site.ts';

/** Exports the 404 page, and all pages and files that the crawl finds from the start page, sitemaps and llms.txt. */
export async function crawlSite(
  options: CrawlOptions,
  ...[request, sink, signal]: Parameters<SiteSource>
): Promise<void> {
  const { settings, hosts, limits: archiveLimits, filesDir, workDir, journalDir, recordsDir } = options;
  const store = new FileStore(filesDir);
  const followsLinks = request.paths === null;
  await mkdir(workDir, { recursive: true });
  await using held = new AsyncDisposableStack();
  const journal = held.use(openJournal(journalDir));
  const urls = hosts.flatMap((host) => [`http://${host}`, `https://${host}`]);
  const policy = crawlPolicy(options.egress, settings, urls);
  const { fetcher, credentials } = await openFetcher(settings, policy, workDir);
  held.defer(() => fetcher.close());

  const findings = new CrawlFindings((finding) => sink.find(finding));
  const responder = new Responder({
    fetcher,
    store,
    journal,
    record: await readRecord(recordsDir, request.domain, credentials),
    limits: settings.limits,
    archiveLimits,
    onBusy: (host, ms) => crawl?.onBusy(host, ms),
    signal,
  });
  let crawl: Crawl | null = null;
  const scope = new Scope(await findScope(settings, hosts, responder, store));
  const pageThreads = new PageThreads(options.pageThreads, { filesDir, scope: scope.settings });
  const threads = held.adopt(pageThreads, (started) => started.end());
  const onProgress = (done: number, known: number): void => sink.progress(done, 2 * known);
  const parts = { settings, archiveLimits, scope, responder, journal, store, threads, findings };
  crawl = new Crawl({ ...parts, followsLinks, onProgress });
  const rendering = await openRendering(options, policy, { crawl, scope, store, findings, signal });
  held.defer(() => rendering?.close());

  const { wanted, notFound } = await crawlAll(settings, crawl, scope, store, request, signal);
  checkShare(crawl, settings);
  for (const [path, url] of wanted) {
    if (!isAnswered(url, crawl.entries))
      sink.find({ kind: 'path_not_found', page: path, detail: 'no page of the site has this path' });
  }
  const { entries, withDigest } = crawl;
  const known = entries.size;
  const written = await writeSite({
    entries,
    withDigest,
    scope,
    notFound,
    startUrl: settings.url,
    threads,
    sink,
    onProgress: (done, total) => sink.progress(known + (known * done) / total, 2 * known),
    signal,
  });
  findings.flush(written);
  await writeLivePages(journalDir, scope.settings, livePagesOf(entries, written, rendering?.seen ?? new Map()));
  if (!followsLinks) return;
  const all = [...entries.values()].flatMap(({ fetched }) => fetched ?? []);
  await writeRecord(recordsDir, request.domain, credentials, all);
}

async function openRendering(
  { settings, browser, workDir }: CrawlOptions,
  policy: EgressPolicy,
  parts: Omit<PageRenderingOptions, 'settings'> & { readonly crawl: Crawl },
) {
  if (settings.render === null) return null;
  const { browserOpener } = await import('./browser/chromium-session.ts');
  const openBrowser = browserOpener(browser, policy, workDir);
  const rendering = await PageRendering.open(openBrowser, { ...parts, settings: settings.render });
  parts.crawl.render = rendering.render;
  return rendering;
}

async function crawlAll(
  settings: CrawlSettings,
  crawl: Crawl,
  scope: Scope,
  store: FileStore,
  { paths }: ExportRequest,
  signal: AbortSignal,
) {
  using _ = addAbortListener(signal, () => crawl.end(signal.reason));
  const robots = await readRobots(settings, scope, crawl, store);
  const wanted = paths === null ? new Map<string, string>() : namePaths(paths, scope, crawl);
  if (paths === null) nameSeeds(settings, scope, robots, crawl);
  const notFound = await findNotFoundPage(crawl, scope);
  await crawl.finish();
  return { wanted, notFound };
}

const REDIRECTS_MAX = 10;

/**
 * Follows redirects of the start page within its host. Adds the host of the page's canonical address if the path is the same,
 * because operators often crawl an internal server.
 * @throws DocshelfError `bad_source` if the start page fails, is not HTML or is on another site
 */
async function findScope(
  { url }: Pick<CrawlSettings, 'url'>,
  hosts: readonly string[],
  responder: Responder,
  store: FileStore,
): Promise<ScopeSettings> {
  const start = new URL(url);
  const fail = (
    state: string,
    next = 'Set the url of the source to a page of the site that responds with 200 and needs no sign-in.',
  ) => badSource(linkWithoutSecrets(url), state, next);
  let at = plain(start);
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    const answer = await responder.look(at.href);
    if (answer.kind === 'failed') {
      throw fail(
        `docshelf cannot fetch its start page: ${answer.state}`,
        'Check the url of the source, and that the site responds. If its address is private, add the address to allowAddresses of the source.',
      );
    }
    const { status, location } = answer.fetched;
    if (status === 200) {
      const type = mediaTypeOf(answer.fetched);
      if (type !== '' && !isPageType(type)) throw fail(`its start page is ${type}, not an HTML page`);
      const {
        bytes,
        fetched: { content },
      } = answer;
      const page = content === null ? bytes : await readFile(store.pathOf(content.sha256));
      const published = page === null ? null : publishedHost(at.href, page);
      const all = published === null || hosts.includes(published) ? hosts : [...hosts, published];
      return { origin: at.origin, prefix: prefixOf(start), hosts: all };
    }
    if (location === null) throw fail(`its start page responds with ${status}`);
    const target = new URL(location);
    const isSameSite = target.hostname === start.hostname || hosts.includes(target.hostname);
    if (!isSameSite || !/^https?:$/.test(target.protocol)) {
      throw fail(
        `it redirects to "${linkWithoutSecrets(location)}", which is another site`,
        'Set the url of the source to the site to export.',
      );
    }
    at = plain(target);
  }
  throw fail(`its start page redirects more than ${REDIRECTS_MAX} times`);
}

const plain = (url: URL): URL => new URL(`${url.pathname}${url.search}`, url.origin);

const SITEMAPS = ['sitemap.xml', 'sitemap_index.xml', 'sitemap-index.xml'];
const SITEMAPS_MAX = 500;
const KNOWN = { depth: 0, isOptional: true, referrer: '' } as const;

/** @throws DocshelfError `bad_source` if robots.txt is unavailable or disallows the start page */
async function readRobots(settings: CrawlSettings, scope: Scope, crawl: Crawl, store: FileStore): Promise<Robots> {
  const entry = await crawl.visit(`${scope.origin}/robots.txt`, { ...KNOWN, askedAs: 'known_file' });
  const bytes = await bytesOf(entry, store);
  const robots = new Robots(bytes?.toString('utf8') ?? '');
  if (settings.robots === 'ignore') return robots;
  const next =
    'Allow docshelf in the robots.txt of the site. If it is your own site, you can set robots: ignore in the source instead.';
  // An unreachable robots.txt disallows all paths (RFC 9309, section 2.3.1.4). An HTML page instead of robots.txt means no rules.
  if (entry.fetched === null && !entry.isPageInstead)
    throw badSource(settings.url, 'docshelf cannot fetch its robots.txt', next);
  if (!robots.allows(new URL(settings.url)))
    throw badSource(settings.url, 'its robots.txt disallows the start page', next);
  crawl.admission.robots = robots;
  return robots;
}

function nameSeeds(settings: CrawlSettings, scope: Scope, robots: Robots, crawl: Crawl): void {
  const start = scope.canonical(new URL(settings.url));
  if (start !== null) crawl.name(start, { askedAs: 'link', referrer: '', depth: 0 });
  const folders = [...new Set([`${scope.origin}/`, scope.origin + scope.prefix])];
  const sitemaps = [...robots.sitemaps, ...folders.flatMap((folder) => SITEMAPS.map((name) => folder + name))];
  for (const sitemap of sitemaps.slice(0, SITEMAPS_MAX)) {
    const url = URL.parse(sitemap, scope.origin);
    // Skip a sitemap on another host, because a sitemap lists only addresses of its own host (sitemaps.org).
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

function namePaths(paths: readonly string[], scope: Scope, crawl: Crawl): Map<string, string> {
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

const bytesOf = async (entry: Entry, store: FileStore): Promise<Buffer | null> =>
  hasContent(entry) ? readFile(store.pathOf(entry.fetched.content.sha256)) : null;

async function findNotFoundPage(crawl: Crawl, scope: Scope): Promise<Entry | null> {
  const url = `${scope.origin}${scope.prefix}docshelf-looks-for-the-404-page`;
  const entry = await crawl.visit(url, { askedAs: 'not_found', referrer: '', depth: 0, isOptional: true });
  crawl.entries.delete(url);
  const { status, content } = entry.fetched ?? { status: 0, content: null };
  return isMissing(status) && content !== null ? entry : null;
}

function isAnswered(url: string, entries: ReadonlyMap<string, Entry>): boolean {
  const entry = entries.get(url);
  return entry !== undefined && (hasContent(entry) || entry.fetched?.location != null);
}

/** An export fails if at least this many pages, and more than FAULT_SHARE_MAX of the requested pages, have failed. */
const FAULTS_MIN = 3;
const FAULT_SHARE_MAX = 0.1;

function checkShare({ counts }: Pick<Crawl, 'counts'>, { url }: CrawlSettings): void {
  const { asked, faults, pages } = counts;
  if (faults < FAULTS_MIN && pages > 0) return;
  if (pages > 0 && faults <= asked * FAULT_SHARE_MAX) return;
  const state =
    pages === 0
      ? 'docshelf could not fetch any page of the site'
      : `${faults} of ${counted(asked, 'page')} could not be fetched, because the site responds with errors or not at all`;
  const next =
    'Check the log of the site. If the site cannot process so many requests, lower concurrency or set rate in the source of the domain.';
  throw badSource(url, state, next);
}
