import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RenderSettings, VerifyCrawlOptions } from '../../domain/crawl.ts';
import { DocshelfError } from '../../domain/errors.ts';
import { FileStore } from '../../files/file-store.ts';
import { readIfThere, replaceFile } from '../../files/index.ts';
import type { CrawlFindings, Naming } from '../admission.ts';
import type { ChromiumSession, OpenBrowser } from '../browser/chromium-session.ts';
import type { Crawl } from '../crawl.ts';
import { readJournals } from '../crawl-record.ts';
import { type ContentEntry, type Entry, type FetchedUrl, hasContent, isPageType } from '../entry.ts';
import type { FetchedAnswer, GuardedFetcher } from '../fetcher.ts';
import { Scope, type ScopeSettings } from '../scope.ts';
import { chooseHtml } from './choose-html.ts';
import { type AnswerRequest, findingsOf, type LivePage, livePageOf, type PageRequest } from './rendered-page.ts';

export interface PageRenderingOptions {
  readonly settings: RenderSettings;
  readonly crawl: Pick<Crawl, 'ask' | 'name' | 'settle'>;
  readonly scope: Scope;
  readonly store: FileStore;
  readonly findings: CrawlFindings;
  readonly signal: AbortSignal;
}

const NOT_SENT: ReadonlySet<string> = new Set(['cookie', 'authorization']);

/** Renders pages in a browser with the crawl's responses. Adds to the crawl the links and text that only scripts create. */
export class PageRendering {
  readonly seen = new Map<string, LivePage>();
  readonly #options: PageRenderingOptions;
  #session: ChromiumSession | null = null;

  static async open(openBrowser: OpenBrowser, options: PageRenderingOptions): Promise<PageRendering> {
    const rendering = new PageRendering(options);
    rendering.#session = await openBrowser(rendering.#answer);
    return rendering;
  }

  private constructor(options: PageRenderingOptions) {
    this.#options = options;
  }

  readonly render = async (entry: ContentEntry): Promise<void> => {
    const { settings, crawl, store, findings, signal } = this.#options;
    const { url, depth, isFollowed } = entry;
    if (this.#session === null) throw new Error('the browser is not open');
    const page = await this.#session.render(url, { signal });
    this.seen.set(url, livePageOf(page));
    for (const finding of findingsOf(url, page)) findings.report(finding);
    if (page.dom === null) return;
    if (isFollowed) {
      for (const link of page.dom.links) this.#name(link, { askedAs: 'link', referrer: url, depth: depth + 1 });
    }
    const bytes = await readFile(store.pathOf(entry.fetched.content.sha256));
    const chosen = chooseHtml(new TextDecoder().decode(bytes), page, settings.scripts);
    // Skip XHTML files, which browsers do not parse as HTML.
    if (chosen.kind === 'settled' && entry.type === 'text/html')
      await crawl.settle(entry, new TextEncoder().encode(chosen.html));
  };

  async close(): Promise<void> {
    await this.#session?.close();
  }

  #name(link: string, naming: Naming): void {
    const { crawl, scope } = this.#options;
    const url = URL.parse(link);
    const canonical = url === null ? null : scope.canonical(url);
    if (canonical !== null) crawl.name(canonical, naming);
  }

  readonly #answer: AnswerRequest = async (request) => {
    const { crawl, scope, store } = this.#options;
    const url = scope.canonical(new URL(request.url));
    const entry = url === null ? null : await crawl.ask(url, namingOf(request));
    if (entry === null || entry.fetched === null)
      throw new DocshelfError('source_failed', `Cannot fetch "${request.url}": the export excludes it`);
    return answerOf(entry.fetched, store);
  };
}

function namingOf({ isNavigation, pageUrl: referrer, headers }: PageRequest): Naming {
  const sent = Object.entries(headers).filter(([name]) => !NOT_SENT.has(name));
  return { askedAs: isNavigation ? 'frame' : 'browser', referrer, depth: 0, headers: Object.fromEntries(sent) };
}

/** Maximum bytes of a response body for the browser. A body is one message to the browser, with several copies in memory. */
const BROWSER_BODY_BYTES_MAX = 64 * 1024 ** 2;

export async function answerOf(fetched: FetchedUrl, store: FileStore): Promise<FetchedAnswer> {
  const { url, status, contentType, location, content } = fetched;
  if (content !== null && content.size > BROWSER_BODY_BYTES_MAX)
    throw new DocshelfError(
      'source_too_large',
      `Cannot show "${url}" in a browser: it is too large (${content.size} bytes)`,
    );
  const headers: Readonly<Record<string, string | null>> = { 'content-type': contentType || null, location };
  const body = content === null ? new Uint8Array() : await readFile(store.pathOf(content.sha256));
  return { status, header: (name) => headers[name] ?? null, body };
}

const ANSWER_BYTES_MAX = 32 * 1024 ** 2;

/** Responds to a request of a live page as the site did during the crawl. Requests a missing response from the site. */
export class CrawledLiveSite implements AsyncDisposable {
  readonly #pages: LivePages;
  readonly #scope: Scope;
  readonly #recorded: ReturnType<typeof readJournals>;
  readonly #store: FileStore;
  readonly #openFetcher: () => Promise<GuardedFetcher>;
  #fetcher: Promise<GuardedFetcher> | null = null;

  static async open(options: VerifyCrawlOptions): Promise<CrawledLiveSite | null> {
    const live = await readLivePages(options.journalDir);
    return live === null ? null : new CrawledLiveSite(options, new Scope(live.scope), live.pages);
  }

  private constructor(options: VerifyCrawlOptions, scope: Scope, pages: LivePages) {
    const { settings, egress, filesDir, journalDir, workDir } = options;
    this.#pages = pages;
    this.#scope = scope;
    this.#recorded = readJournals(journalDir);
    this.#store = new FileStore(filesDir);
    this.#openFetcher = async () => {
      const { crawlPolicy, openFetcher } = await import('../fetcher.ts');
      await mkdir(workDir, { recursive: true });
      return (await openFetcher(settings, crawlPolicy(egress, settings, [scope.origin]), workDir)).fetcher;
    };
  }

  urlOf(path: string): string | null {
    return this.#pages[path]?.url ?? null;
  }

  seen(path: string): LivePage | null {
    return this.#pages[path]?.seen ?? null;
  }

  readonly answer: AnswerRequest = async (request, signal) => {
    const url = this.#scope.canonical(new URL(request.url));
    const recorded = url === null ? undefined : this.#recorded.get(url);
    if (recorded === undefined) return this.#ask(request, signal);
    return answerOf(recorded, this.#store);
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

/** Stores the live pages in the folder of the export job, because a later attempt of the job may verify the site. */
export async function writeLivePages(journalDir: string, scope: ScopeSettings, pages: LivePages): Promise<void> {
  await replaceFile(join(journalDir, FILE), JSON.stringify({ scope, pages }));
}

async function readLivePages(journalDir: string) {
  const text = await readIfThere(join(journalDir, FILE));
  return text === null ? null : JSON.parse(text);
}
