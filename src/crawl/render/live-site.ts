import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { CrawlSettings } from '../../domain/crawl.ts';
import type { EgressRules } from '../../domain/egress.ts';
import { FileStore } from '../../files/file-store.ts';
import { readIfThere, replaceFile } from '../../files/index.ts';
import { type Entry, hasContent, isPageType } from '../entry.ts';
import type { FetchedAnswer, GuardedFetcher } from '../fetcher.ts';
import { KeptContent } from '../kept/content-packs.ts';
import { CrawlRecord, journaled } from '../kept/crawl-record.ts';
import { Scope, type ScopeSettings } from '../scope.ts';
import type { LiveSite } from '../verify.ts';
import type { AnswerRequest, LivePage, PageRequest } from './rendered-page.ts';

export interface LiveSiteOptions {
  readonly settings: CrawlSettings;
  readonly egress: EgressRules;
  readonly domain: string;
  readonly filesDir: string;
  readonly journalDir: string;
  readonly recordsDir: string;
  readonly workDir: string;
}

const ANSWER_BYTES_MAX = 32 * 1024 ** 2;

/** As the crawl saw it; only requests that the crawl did not make go to the site itself. */
export class CrawledLiveSite implements LiveSite, AsyncDisposable {
  readonly #pages: LivePages;
  readonly #scope: Scope;
  readonly #recorded: ReturnType<typeof journaled>;
  readonly #kept: KeptContent;
  readonly #openFetcher: () => Promise<GuardedFetcher>;
  #fetcher: Promise<GuardedFetcher> | null = null;

  static async open(options: LiveSiteOptions): Promise<CrawledLiveSite | null> {
    const live = await readLivePages(options.journalDir);
    return live === null ? null : new CrawledLiveSite(options, new Scope(live.scope), live.pages);
  }

  private constructor(options: LiveSiteOptions, scope: Scope, pages: LivePages) {
    const { settings, egress, domain, filesDir, journalDir, recordsDir, workDir } = options;
    this.#pages = pages;
    this.#scope = scope;
    this.#recorded = journaled(journalDir);
    const recordDir = new CrawlRecord(recordsDir, domain).dir;
    this.#kept = new KeptContent(new FileStore(filesDir), { jobDir: journalDir, recordDir });
    this.#openFetcher = async () => {
      const { crawlPolicy, openFetcher } = await import('../fetcher.ts');
      await mkdir(workDir, { recursive: true });
      return (await openFetcher(settings, crawlPolicy(egress, settings, [scope.origin]), workDir)).fetcher;
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
    return this.#kept.answer(recorded);
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

/** By path of the file. Plain data. */
type LivePages = Readonly<Record<string, { readonly url: string; readonly seen: LivePage | null }>>;

const FILE = 'live-pages.json';

export function livePagesOf(
  entries: ReadonlyMap<string, Entry>,
  paths: ReadonlyMap<string, string>,
  seen: ReadonlyMap<string, LivePage>,
): LivePages {
  const pages = new Map<string, LivePages[string]>();
  for (const entry of entries.values()) {
    const { url } = entry;
    const path = paths.get(url);
    if (path === undefined || pages.has(path) || !hasContent(entry) || !isPageType(entry.type)) continue;
    pages.set(path, { url, seen: seen.get(url) ?? null });
  }
  return Object.fromEntries(pages);
}

/** The proof may be another attempt's. */
export async function writeLivePages(journalDir: string, scope: ScopeSettings, pages: LivePages): Promise<void> {
  await replaceFile(join(journalDir, FILE), JSON.stringify({ scope, pages }));
}

async function readLivePages(
  journalDir: string,
): Promise<{ readonly scope: ScopeSettings; readonly pages: LivePages } | null> {
  const text = await readIfThere(join(journalDir, FILE));
  return text === null ? null : JSON.parse(text);
}
