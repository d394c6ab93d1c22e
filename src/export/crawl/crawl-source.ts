import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { CrawlSettings } from '../../domain/crawl.ts';
import type { ExportRequest } from '../../domain/job.ts';
import type { ArchiveLimits } from '../../domain/limits.ts';
import type { FileStore } from '../file-store.ts';
import type { SiteSink, SiteSource } from '../ports.ts';
import { badSource } from '../sources/bad-source.ts';
import { Answering } from './answering.ts';
import { KeptContent } from './content-packs.ts';
import { Crawl } from './crawl.ts';
import { CrawlFindings } from './crawl-findings.ts';
import { CrawlRecord } from './crawl-record.ts';
import { type Entry, hasContent } from './entry.ts';
import type { FetchedUrl } from './fetched-url.ts';
import { CrawlJournal } from './journal.ts';
import { PageThreads } from './page-threads.ts';
import type { CrawlNetwork, OpenFetcher } from './ports.ts';
import { Scope } from './scope.ts';
import { namePaths, nameSeeds, readRobots } from './seeds.ts';
import { findScope } from './start-page.ts';
import { writeSite } from './write-site.ts';

export interface CrawlSourceOptions {
  readonly settings: CrawlSettings;
  /** Full host names of the site, in lower case. */
  readonly hosts: readonly string[];
  /** What a bundle may hold. */
  readonly archiveLimits: ArchiveLimits;
  readonly openFetcher: OpenFetcher;
  readonly network: CrawlNetwork;
  /** The file store that the job's files go to. */
  readonly store: FileStore;
  /** Its folder. */
  readonly filesDir: string;
  /** Of this attempt: removed after it. */
  readonly workDir: string;
  /** Of the job: an attempt after this one goes on from it. */
  readonly journalDir: string;
  /** Records of crawls, by domain. */
  readonly recordsDir: string;
  /** URL of the entry of the threads for pages, and how many there are. */
  readonly pageEntry: string;
  readonly pageThreads: number;
}

/** More than one page in ten that the server fails to give, and at least so many: the export would have holes. */
const FAULTS_MIN = 3;
const FAULT_SHARE_MAX = 0.1;

/**
 * A live site, by HTTP.
 *
 * 1. Look where it begins, and read its robots.txt.
 * 2. Go from its seeds to all that they lead to: each file is fetched, stored and looked through as it comes.
 * 3. Ask for what cannot be there, for its 404 page.
 * 4. Name the files, and write the pages so that they lead to each other.
 */
export class CrawlSource implements SiteSource {
  readonly #options: CrawlSourceOptions;

  constructor(options: CrawlSourceOptions) {
    this.#options = options;
  }

  async collect(request: ExportRequest, sink: SiteSink, signal: AbortSignal): Promise<void> {
    const { settings, hosts, archiveLimits, openFetcher, network, store, workDir } = this.#options;
    const foundDir = join(workDir, 'found');
    await mkdir(foundDir, { recursive: true });
    const { fetcher, credentials } = await openFetcher(settings, network, workDir);
    const record = new CrawlRecord(this.#options.recordsDir, request.domain);
    const { filesDir, pageEntry, pageThreads, journalDir } = this.#options;
    const journal = await CrawlJournal.open(journalDir);
    const packFolders = { jobDir: journalDir, recordDir: record.dir };
    const findings = new CrawlFindings((finding) => sink.find(finding));
    let crawl: Crawl | null = null;
    const answering = new Answering({
      fetcher,
      store,
      kept: new KeptContent(store, packFolders),
      journal,
      record: await record.read(credentials),
      limits: settings.limits,
      archiveLimits,
      onBusy: (host, ms) => crawl?.onBusy(host, ms),
      signal,
    });
    const { attempt } = journal;
    const threads = new PageThreads(pageEntry, pageThreads, { filesDir, foundDir, packFolders, attempt });
    try {
      const scope = new Scope(await findScope(settings, hosts, answering, threads));
      await threads.useScope(scope.settings);
      const { paths } = request;
      // Fetching is half of the work, writing the other.
      const onProgress = (done: number, known: number): void => sink.progress(done, 2 * known);
      crawl = new Crawl({
        settings,
        archiveLimits,
        scope,
        answering,
        journal,
        store,
        threads,
        findings,
        followsLinks: paths === null,
        onProgress,
      });
      const { wanted, notFound } = await this.#crawl(crawl, scope, request, signal);
      checkShare(crawl, settings);
      for (const [path, url] of wanted) {
        if (!isAnswered(url, crawl.entries))
          sink.find({ kind: 'path_not_found', page: path, detail: 'no page of the site answers this path' });
      }
      const known = crawl.entries.size;
      const written = await writeSite({
        entries: crawl.entries,
        withDigest: crawl.withDigest,
        scope,
        notFound,
        startUrl: settings.url,
        threads,
        sink,
        onProgress: (done, total) => sink.progress(known + (known * done) / total, 2 * known),
        signal,
      });
      findings.flush(written);
      if (paths === null) await record.write(fetchedOf(crawl.entries), credentials, journalDir);
    } finally {
      await threads.end();
      await fetcher.close();
      journal.close();
    }
  }

  async #crawl(crawl: Crawl, scope: Scope, { paths }: ExportRequest, signal: AbortSignal) {
    const { settings, store } = this.#options;
    const onAbort = (): void => crawl.end(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const robots = await readRobots(settings, scope, crawl, store);
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

/** What the site shows for an address that it cannot have; null where it says that it has it, or shows no page. */
async function findNotFoundPage(crawl: Crawl, scope: Scope): Promise<Entry | null> {
  const url = `${scope.origin}${scope.prefix}docshelf-looks-for-the-404-page`;
  const entry = await crawl.visit(url, { askedAs: 'not_found', referrer: '', depth: 0, isOptional: true });
  crawl.entries.delete(url);
  const { status, content } = entry.fetched ?? { status: 0, content: null };
  return (status === 404 || status === 410) && content !== null ? entry : null;
}

function checkShare(crawl: Crawl, { url }: CrawlSettings): void {
  const { asked, faults, pages } = crawl.counts;
  if (faults < FAULTS_MIN && pages > 0) return;
  if (pages > 0 && faults <= asked * FAULT_SHARE_MAX) return;
  const state =
    pages === 0
      ? 'no page of it could be fetched'
      : `${faults} of ${asked} pages could not be fetched, since the site answers with errors or not at all`;
  throw badSource(
    url,
    state,
    'Look at the log of the site; where it cannot take so many requests, lower concurrency in the source or set its rate.',
  );
}

function isAnswered(url: string, entries: ReadonlyMap<string, Entry>): boolean {
  const entry = entries.get(url);
  return entry !== undefined && (hasContent(entry) || entry.fetched?.location != null);
}

function fetchedOf(entries: ReadonlyMap<string, Entry>): FetchedUrl[] {
  return Array.from(entries.values(), ({ fetched }) => fetched).filter((fetched) => fetched !== null);
}
