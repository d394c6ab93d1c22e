import { mkdir } from 'node:fs/promises';
import type { CrawlNetwork, CrawlSettings } from '../../domain/crawl.ts';
import { FileStore } from '../../files/file-store.ts';
import { storedAnswer } from '../ask/stored-answer.ts';
import { KeptContent } from '../kept/content-packs.ts';
import { CrawlRecord } from '../kept/crawl-record.ts';
import { journaled } from '../kept/journal.ts';
import type { FetchedAnswer, Fetcher } from '../ports.ts';
import type { AnswerRequest, PageRequest } from '../render/ports.ts';
import { Scope } from '../scope.ts';
import type { LiveSite } from '../verify/index.ts';
import { type LivePages, readLivePages } from './live-pages.ts';

export interface LiveSiteOptions {
  readonly settings: CrawlSettings;
  readonly network: CrawlNetwork;
  readonly domain: string;
  readonly filesDir: string;
  readonly journalDir: string;
  readonly recordsDir: string;
  /** Receives answers that are too large for memory. */
  readonly workDir: string;
}

/** Of a page that is compared: far above what one loads. */
const ANSWER_BYTES_MAX = 32 * 1024 ** 2;

/**
 * The live site of a crawl that is over: its pages as the crawl saw them, and for whoever looks again what the crawl was
 * answered. Only what it did not ask for is asked of the site itself.
 */
export class CrawledLiveSite implements LiveSite, AsyncDisposable {
  readonly #pages: LivePages;
  readonly #scope: Scope;
  readonly #recorded: ReturnType<typeof journaled>;
  readonly #kept: KeptContent;
  readonly #openFetcher: () => Promise<Fetcher>;
  #fetcher: Promise<Fetcher> | null = null;

  /** Null where the crawl left nothing to compare with. @throws the system's own errors */
  static async open(options: LiveSiteOptions): Promise<CrawledLiveSite | null> {
    const live = await readLivePages(options.journalDir);
    return live === null ? null : new CrawledLiveSite(options, new Scope(live.scope), live.pages);
  }

  private constructor(options: LiveSiteOptions, scope: Scope, pages: LivePages) {
    const { settings, network, domain, filesDir, journalDir, recordsDir, workDir } = options;
    this.#pages = pages;
    this.#scope = scope;
    this.#recorded = journaled(journalDir);
    const recordDir = new CrawlRecord(recordsDir, domain).dir;
    this.#kept = new KeptContent(new FileStore(filesDir), { jobDir: journalDir, recordDir });
    this.#openFetcher = async () => {
      const { openFetcher } = await import('../fetch/open-fetcher.ts');
      await mkdir(workDir, { recursive: true });
      return (await openFetcher(settings, network, workDir)).fetcher;
    };
  }

  urlOf(path: string): string | null {
    return this.#pages[path]?.url ?? null;
  }

  seen(path: string) {
    return this.#pages[path]?.seen ?? null;
  }

  readonly answer: AnswerRequest = async (request, signal) => {
    const url = this.#scope.canonical(new URL(request.url));
    const recorded = url === null ? undefined : this.#recorded.get(url);
    if (recorded === undefined) return this.#ask(request, signal);
    return storedAnswer(recorded, (content) => this.#kept.read(content));
  };

  async [Symbol.asyncDispose](): Promise<void> {
    const fetcher = await this.#fetcher?.catch(() => null);
    await fetcher?.close();
  }

  async #ask({ url, headers }: PageRequest, signal: AbortSignal): Promise<FetchedAnswer> {
    this.#fetcher ??= this.#openFetcher();
    const { cookie: _, ...others } = headers;
    const limits = { bytesMax: ANSWER_BYTES_MAX, memoryBytesMax: ANSWER_BYTES_MAX };
    return (await this.#fetcher).fetch({ url, headers: others, limitsOf: () => limits }, signal);
  }
}
