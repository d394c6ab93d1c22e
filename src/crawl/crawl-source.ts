import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserSettings, CrawlSettings } from '../domain/crawl.ts';
import type { EgressRules } from '../domain/egress.ts';
import { badSource, type ExportRequest, type SiteSink, type SiteSource } from '../domain/job.ts';
import type { ArchiveLimits } from '../domain/limits.ts';
import { counted } from '../domain/text.ts';
import { FileStore } from '../files/file-store.ts';
import type { EgressPolicy } from '../net/egress.ts';
import type { FetchedUrl } from './ask/fetched-url.ts';
import { Responder } from './ask/responder.ts';
import { Crawl } from './crawl.ts';
import { CrawlFindings } from './crawl-findings.ts';
import { type Entry, hasContent } from './entry.ts';
import { crawlPolicy, openFetcher } from './fetch/guarded-fetcher.ts';
import { KeptContent } from './kept/content-packs.ts';
import { CrawlRecord } from './kept/crawl-record.ts';
import { CrawlJournal } from './kept/journal.ts';
import { PageThreads } from './pages/page-threads.ts';
import { livePagesOf, writeLivePages } from './render/live-site.ts';
import { PageRendering, type PageRenderingOptions } from './render/page-rendering.ts';
import { Scope } from './scope.ts';
import { findScope, namePaths, nameSeeds, readRobots } from './seeds.ts';
import { writeSite } from './site/write-site.ts';

export interface CrawlSourceOptions {
  readonly settings: CrawlSettings;
  /** In lower case. */
  readonly hosts: readonly string[];
  readonly limits: ArchiveLimits;
  readonly browser: BrowserSettings;
  readonly egress: EgressRules;
  readonly filesDir: string;
  readonly workDir: string;
  /** The next attempt goes on from it. */
  readonly journalDir: string;
  readonly recordsDir: string;
  readonly pageThreads: number;
}

/** Steps: start page, robots.txt, seeds and all that they lead to, the 404 page, names of files, pages written anew. */
export class CrawlSource implements SiteSource {
  readonly #options: CrawlSourceOptions;
  readonly #store: FileStore;

  constructor(options: CrawlSourceOptions) {
    this.#options = options;
    this.#store = new FileStore(options.filesDir);
  }

  async collect(request: ExportRequest, sink: SiteSink, signal: AbortSignal): Promise<void> {
    const { settings, hosts, limits: archiveLimits, egress, workDir } = this.#options;
    const store = this.#store;
    const foundDir = join(workDir, 'found');
    await mkdir(foundDir, { recursive: true });
    const record = new CrawlRecord(this.#options.recordsDir, request.domain);
    const { filesDir, pageThreads, journalDir } = this.#options;
    await using held = new AsyncDisposableStack();
    const journal = held.adopt(await CrawlJournal.open(journalDir), (opened) => opened.close());
    const packFolders = { jobDir: journalDir, recordDir: record.dir };
    const { attempt } = journal;
    // They start while the first page is fetched.
    const threads = held.adopt(new PageThreads(pageThreads, { filesDir, foundDir, packFolders, attempt }), (started) =>
      started.end(),
    );
    const policy = crawlPolicy(
      egress,
      settings,
      hosts.flatMap((host) => [`http://${host}`, `https://${host}`]),
    );
    const { fetcher, credentials } = await openFetcher(settings, policy, workDir);
    held.defer(() => fetcher.close());
    const kept = new KeptContent(store, packFolders);
    const findings = new CrawlFindings((finding) => sink.find(finding));
    let crawl: Crawl | null = null;
    const responder = new Responder({
      fetcher,
      store,
      kept,
      journal,
      record: await record.read(credentials),
      limits: settings.limits,
      archiveLimits,
      onBusy: (host, ms) => crawl?.onBusy(host, ms),
      signal,
    });
    const scope = new Scope(await findScope(settings, hosts, responder, threads));
    await threads.useScope(scope.settings);
    // Fetching is half of the work, writing the other.
    const onProgress = (done: number, known: number): void => sink.progress(done, 2 * known);
    const followsLinks = request.paths === null;
    const parts = { settings, archiveLimits, scope, responder, journal, store, threads, findings };
    crawl = new Crawl({ ...parts, followsLinks, onProgress });
    const rendering = await this.#openRendering(policy, { crawl, scope, kept, findings, signal });
    held.defer(() => rendering?.close());
    const { wanted, notFound } = await this.#crawl(crawl, scope, request, signal);
    checkShare(crawl, settings);
    for (const [path, url] of wanted) {
      if (!isAnswered(url, crawl.entries))
        sink.find({ kind: 'path_not_found', page: path, detail: 'no page of the site answers this path' });
    }
    const flushing = followsLinks ? record.flush(journalDir) : Promise.resolve();
    held.defer(() => flushing);
    const known = crawl.entries.size;
    const written = await writeSite({
      entries: crawl.entries,
      withDigest: crawl.withDigest,
      scope,
      notFound,
      startUrl: settings.url,
      threads,
      store,
      sink,
      onProgress: (done, total) => sink.progress(known + (known * done) / total, 2 * known),
      signal,
    });
    findings.flush(written);
    const seen = rendering?.seen ?? new Map<string, never>();
    await writeLivePages(journalDir, scope.settings, livePagesOf(crawl.entries, written, seen));
    if (followsLinks) await record.write(fetchedOf(crawl.entries), credentials, journalDir);
  }

  async #openRendering(
    policy: EgressPolicy,
    parts: Omit<PageRenderingOptions, 'settings'> & { readonly crawl: Crawl },
  ) {
    const { settings, browser, workDir } = this.#options;
    if (settings.render === null) return null;
    const { ChromiumRenderer } = await import('./browser/chromium-renderer.ts');
    const renderer = await ChromiumRenderer.make(policy, browser, join(workDir, 'browser'));
    const rendering = await PageRendering.open(renderer, { ...parts, settings: settings.render });
    parts.crawl.useRenderer(rendering.render);
    return rendering;
  }

  async #crawl(crawl: Crawl, scope: Scope, { paths }: ExportRequest, signal: AbortSignal) {
    const { settings } = this.#options;
    const onAbort = (): void => crawl.end(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const robots = await readRobots(settings, scope, crawl, this.#store);
      const wanted = paths === null ? new Map<string, string>() : namePaths(paths, scope, crawl);
      if (paths === null) nameSeeds(settings, scope, robots, crawl);
      const notFound = await findNotFoundPage(crawl, scope);
      await crawl.finish();
      return { wanted, notFound };
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }
}

async function findNotFoundPage(crawl: Crawl, scope: Scope): Promise<Entry | null> {
  const url = `${scope.origin}${scope.prefix}docshelf-looks-for-the-404-page`;
  const entry = await crawl.visit(url, { askedAs: 'not_found', referrer: '', depth: 0, isOptional: true });
  crawl.entries.delete(url);
  const { status, content } = entry.fetched ?? { status: 0, content: null };
  return (status === 404 || status === 410) && content !== null ? entry : null;
}

function isAnswered(url: string, entries: ReadonlyMap<string, Entry>): boolean {
  const entry = entries.get(url);
  return entry !== undefined && (hasContent(entry) || entry.fetched?.location != null);
}

function fetchedOf(entries: ReadonlyMap<string, Entry>): FetchedUrl[] {
  return Array.from(entries.values(), ({ fetched }) => fetched).filter((fetched) => fetched !== null);
}

/** Pages that the server fails to give, so many and more than this share, would be holes in the export. */
const FAULTS_MIN = 3;
const FAULT_SHARE_MAX = 0.1;

function checkShare({ counts }: Pick<Crawl, 'counts'>, { url }: CrawlSettings): void {
  const { asked, faults, pages } = counts;
  if (faults < FAULTS_MIN && pages > 0) return;
  if (pages > 0 && faults <= asked * FAULT_SHARE_MAX) return;
  const state =
    pages === 0
      ? 'no page of it could be fetched'
      : `${faults} of ${counted(asked, 'page')} could not be fetched, since the site answers with errors or not at all`;
  const next =
    'Look at the log of the site; where it cannot take so many requests, lower concurrency in the source or set its rate.';
  throw badSource(url, state, next);
}
