import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CrawlLimits } from '../domain/crawl.ts';
import { DocshelfError } from '../domain/errors.ts';
import type { ArchiveLimits } from '../domain/limits.ts';
import type { FileStore } from '../files/file-store.ts';
import { retryAfterOf } from '../net/retry.ts';
import { refreshOf } from '../web/rewrite/markup/elements.ts';
import { hasNoFollow } from './admission.ts';
import type { CrawlJournal } from './crawl-record.ts';
import { type Entry, type FetchedUrl, isMissing, isPageType } from './entry.ts';
import type { BodyLimits, FetchedAnswer, GuardedFetcher } from './fetcher.ts';
import { isSitemapPath, SITEMAP_BYTES_MAX } from './listed-urls.ts';

export type Answer =
  | { readonly kind: 'fetched'; readonly fetched: FetchedUrl; readonly bytes: Uint8Array | null }
  | { readonly kind: 'failed'; readonly state: string; readonly isServerFault: boolean };

interface ResponderOptions {
  readonly fetcher: GuardedFetcher;
  readonly store: FileStore;
  readonly journal: CrawlJournal;
  readonly record: ReadonlyMap<string, FetchedUrl>;
  readonly limits: CrawlLimits;
  readonly archiveLimits: ArchiveLimits;
  readonly onBusy: (host: string, ms: number) => void;
  readonly signal: AbortSignal;
}

const ATTEMPTS_MAX = 3;
const BUSY_ATTEMPTS_MAX = 5;
const BACK_OFF_MS = 250;
/** Maximum pause before docshelf repeats a request, even if the server asks for a longer pause. A job has a deadline. */
const PAUSE_MS_MAX = 60_000;
/** Number of consecutive addresses without a response after which docshelf stops requests to their host. */
const HOST_FAULTS_MAX = 5;
const MEMORY_BYTES_MAX = 1024 ** 2;

/** Maximum delay of a `Refresh` header that counts as a redirect. With a longer delay, readers are meant to read the page first. */
const REFRESH_SECONDS_MAX = 10;

const BUSY: ReadonlySet<number> = new Set([429, 503]);
const PASSING: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Returns the response of an earlier attempt, or else requests the address. On 304, returns the response of the previous crawl. */
export class Responder {
  readonly #options: ResponderOptions;
  readonly #faultsByHost = new Map<string, number>();
  readonly #ahead = new Map<string, Answer>();

  constructor(options: ResponderOptions) {
    this.#options = options;
  }

  async look(url: string): Promise<Answer> {
    const answer = await this.get(url);
    this.#ahead.set(url, answer);
    return answer;
  }

  async get(url: string, headers: Entry['headers'] = null): Promise<Answer> {
    const { journal, record } = this.#options;
    const ahead = this.#ahead.get(url);
    if (ahead !== undefined) {
      this.#ahead.delete(url);
      return ahead;
    }
    const earlier = journal.earlier.get(url);
    if (earlier !== undefined && (await this.#isKept(earlier)))
      return { kind: 'fetched', fetched: earlier, bytes: null };
    const last = record.get(url);
    return this.#ask(url, headers, last !== undefined && (await this.#isKept(last)) ? last : null);
  }

  async #ask(url: string, headers: Entry['headers'], last: FetchedUrl | null): Promise<Answer> {
    const { fetcher, signal, onBusy } = this.#options;
    const { host } = new URL(url);
    let state = 'its host no longer responds';
    let isSilent = false;
    for (let attempt = 1; (this.#faultsByHost.get(host) ?? 0) < HOST_FAULTS_MAX; attempt += 1) {
      let pauseMs = BACK_OFF_MS * 4 ** (attempt - 1);
      let isBusy = false;
      try {
        const limitsOf = (mediaType: string): BodyLimits => this.#limitsOf(url, mediaType);
        const answer = await fetcher.fetch({ url, headers: { ...headers, ...conditionOf(last) }, limitsOf }, signal);
        this.#faultsByHost.delete(host);
        if (!PASSING.has(answer.status)) return await this.#take(url, answer, last);
        await discard(answer);
        state = `it responds with ${answer.status}`;
        isSilent = false;
        isBusy = BUSY.has(answer.status);
        pauseMs = retryAfterOf(answer.header('retry-after'), Date.now()) ?? pauseMs;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof DocshelfError)) throw error;
        state = error.message.replace(/^Cannot fetch "[^"]*": /, '');
        isSilent = true;
        if (error.fields.retryable !== true) return { kind: 'failed', state, isServerFault: isFaultOfServer(error) };
      }
      if (attempt >= (isBusy ? BUSY_ATTEMPTS_MAX : ATTEMPTS_MAX)) break;
      pauseMs = Math.min(pauseMs, PAUSE_MS_MAX);
      if (isBusy) onBusy(host, pauseMs);
      await sleep(pauseMs, undefined, { signal });
    }
    if (isSilent) this.#faultsByHost.set(host, (this.#faultsByHost.get(host) ?? 0) + 1);
    return { kind: 'failed', state, isServerFault: true };
  }

  async #take(url: string, answer: FetchedAnswer, last: FetchedUrl | null): Promise<Answer> {
    const { body } = answer;
    const refresh = refreshTarget(answer, url);
    const status = refresh === null ? answer.status : 302;
    if (status === 304 && last !== null) return { kind: 'fetched', fetched: last, bytes: null };
    const fetched: FetchedUrl = {
      url,
      status,
      location: refresh ?? (REDIRECTS.has(status) ? locationOf(answer.header('location'), url) : null),
      contentType: answer.header('content-type') ?? '',
      etag: answer.header('etag'),
      lastModified: answer.header('last-modified'),
      noFollow: hasNoFollow(answer.header('x-robots-tag') ?? ''),
      content: null,
    };
    // Keep the body of a missing page, because it can become the 404 page of the export.
    if (status !== 200 && !isMissing(status)) {
      await discard(answer);
      return { kind: 'fetched', fetched, bytes: null };
    }
    if (body instanceof Uint8Array) return { kind: 'fetched', fetched, bytes: body };
    const content = await this.#options.store.put({ file: body.file });
    await discard(answer);
    return { kind: 'fetched', fetched: { ...fetched, content }, bytes: null };
  }

  #limitsOf(url: string, mediaType: string): BodyLimits {
    const { limits, archiveLimits } = this.#options;
    if (isPageType(mediaType)) return { bytesMax: limits.pageBytesMax, memoryBytesMax: limits.pageBytesMax };
    const isSource = /javascript|css|svg|json/.test(mediaType);
    const memoryBytesMax = isSource ? limits.pageBytesMax : MEMORY_BYTES_MAX;
    const bytesMax = isSitemapPath(new URL(url).pathname) ? SITEMAP_BYTES_MAX : archiveLimits.fileBytesMax;
    return { bytesMax, memoryBytesMax };
  }

  async #isKept({ content }: FetchedUrl): Promise<boolean> {
    return content === null || this.#options.store.use(content);
  }
}

function conditionOf(last: FetchedUrl | null): Record<string, string> {
  if (last?.etag != null) return { 'if-none-match': last.etag };
  return last?.lastModified == null ? {} : { 'if-modified-since': last.lastModified };
}

const locationOf = (location: string | null, url: string): string | null =>
  location === null ? null : (URL.parse(location, url)?.href ?? null);

function refreshTarget(answer: FetchedAnswer, url: string): string | null {
  const refresh = answer.status === 200 ? refreshOf(answer.header('refresh') ?? '') : null;
  if (refresh === null || refresh.seconds > REFRESH_SECONDS_MAX) return null;
  const target = locationOf(refresh.address, url);
  return target?.replace(/#.*/, '') === url ? null : target;
}

const isFaultOfServer = ({ code }: DocshelfError): boolean =>
  code === 'source_unreachable' || code === 'source_timeout' || code === 'source_truncated';

async function discard({ body }: FetchedAnswer): Promise<void> {
  if (!(body instanceof Uint8Array)) await rm(body.file, { force: true });
}
