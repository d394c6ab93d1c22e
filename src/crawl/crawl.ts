import type { FileStore } from '../files/file-store.ts';
import { charsetOfType } from '../web/media-type.ts';
import { Admission, type AdmissionOptions, type CrawlSize, type Naming } from './admission.ts';
import type { CrawlJournal } from './crawl-record.ts';
import {
  type ContentEntry,
  type Entry,
  type FetchedUrl,
  hasContent,
  isMissing,
  isPageInPlaceOfFile,
  isPageType,
  namesPage,
  sourceTypeOfAnswer,
  typeOfAnswer,
} from './entry.ts';
import { FetchQueue } from './fetch-queue.ts';
import { isList, urlsListedIn } from './listed-urls.ts';
import type { PageThreads } from './pages/page-threads.ts';
import type { ReadPage } from './pages/page-work.ts';
import type { Answer, Responder } from './responder.ts';
import { endOf } from './write-site.ts';

interface CrawlOptions extends AdmissionOptions {
  readonly responder: Responder;
  readonly journal: CrawlJournal;
  readonly store: FileStore;
  readonly threads: PageThreads;
  readonly onProgress: (done: number, known: number) => void;
}

type RenderPage = (entry: ContentEntry) => Promise<void>;

const OTHER_HOST_IN_FLIGHT = 6;
const IN_FLIGHT_MAX = 64;
/** Maximum responses that wait for a page thread. The number is low, because a killed process loses these responses. */
const READING_MAX = 16;
const REDIRECTS_MAX = 10;

/**
 * Fetches each address once if the rules allow the request. Threads find references in responses, and `name` queues the
 * referenced addresses.
 */
export class Crawl {
  readonly entries = new Map<string, Entry>();
  readonly withDigest = new Set<string>();
  readonly counts = { asked: 0, faults: 0, pages: 0 };
  readonly #options: CrawlOptions;
  readonly #queue: FetchQueue<Entry>;
  readonly admission: Admission;
  readonly #waiters = new Map<Entry, PromiseWithResolvers<void>>();
  /** Renders a page in the browser. Null if the crawl renders no pages. */
  render: RenderPage | null = null;
  #bytes = 0;
  #done = 0;
  #toRender = 0;

  constructor(options: CrawlOptions) {
    this.#options = options;
    const { settings, scope } = options;
    this.admission = new Admission(options);
    const ownHost = new URL(scope.origin).host;
    this.#queue = new FetchQueue<Entry>({
      work: (entry) => this.#fetch(entry),
      boundsOf: (host) => ({
        inFlightMax: host === ownHost ? settings.concurrency : Math.min(settings.concurrency, OTHER_HOST_IN_FLIGHT),
        rateMax: settings.rateMax,
      }),
      inFlightMax: Math.max(IN_FLIGHT_MAX, settings.concurrency),
      restingMax: READING_MAX,
    });
  }

  onBusy(host: string, ms: number): void {
    this.#queue.slowDown(host, ms);
  }

  name(url: string, naming: Naming): void {
    const known = this.entries.get(url);
    if (known?.askedAs === 'browser' && naming.askedAs === 'link') this.#promote(known, naming);
    if (known !== undefined) return;
    const entry = this.#admit(url, naming);
    if (entry !== null) this.#queue.add(new URL(url).host, entry);
  }

  async visit(url: string, naming: Naming): Promise<Entry> {
    const known = this.entries.get(url);
    if (known !== undefined) return known;
    const entry = this.#enter(url, naming);
    const { rest } = await this.#fetch(entry);
    await rest;
    return entry;
  }

  async ask(url: string, naming: Naming): Promise<Entry | null> {
    const entry = this.entries.get(url) ?? this.#admit(url, naming);
    if (entry === null || entry.state === 'done') return entry;
    if (entry.state === 'waiting') this.#queue.add(new URL(url).host, entry, true);
    const waiter = this.#waiters.get(entry) ?? Promise.withResolvers<void>();
    this.#waiters.set(entry, waiter);
    await waiter.promise;
    return entry;
  }

  async settle(entry: ContentEntry, html: Uint8Array): Promise<void> {
    const read = await this.#options.threads.call('read', {
      url: entry.url,
      type: 'html',
      charset: 'utf-8',
      content: html,
    });
    entry.settled = read.content;
    this.#nameFound(entry, read);
  }

  /** Resolves after the last address is crawled. @throws errors of the store; the reason given to `end` */
  async finish(): Promise<void> {
    await this.#queue.drain();
  }

  end(reason: unknown): void {
    this.#queue.end(reason);
  }

  get #size(): CrawlSize {
    return { entries: this.entries.size, pages: this.counts.pages, bytes: this.#bytes };
  }

  #promote(entry: Entry, naming: Naming): void {
    if (!this.admission.admits(entry.url, naming, this.#size)) return;
    entry.askedAs = naming.askedAs;
    if (entry.state === 'done') this.#renderIfPage(entry);
  }

  #admit(url: string, naming: Naming): Entry | null {
    return this.admission.admits(url, naming, this.#size) ? this.#enter(url, naming) : null;
  }

  #enter(url: string, naming: Naming): Entry {
    const entry = newEntry(url, naming);
    this.entries.set(url, entry);
    return entry;
  }

  /**
   * Resolves when the response arrives, so that the queue can send the next request. The returned `rest` resolves after docshelf
   * has processed the response.
   */
  async #fetch(entry: Entry): Promise<{ readonly rest: Promise<void> }> {
    const { responder, findings } = this.#options;
    if (entry.state !== 'waiting') return { rest: Promise.resolve() };
    entry.state = 'asked';
    const isLink = entry.askedAs === 'link';
    const full = isLink ? this.admission.reasonAgainstPage(this.#size) : null;
    if (full !== null) {
      this.admission.leaveOut(entry.url, entry, full);
      return { rest: this.#finish(entry, null) };
    }
    if (isLink) this.counts.asked += 1;
    const answer = await responder.get(entry.url, entry.headers);
    if (answer.kind === 'fetched') return { rest: this.#finish(entry, this.#take(entry, answer)) };
    if (isLink && answer.isServerFault) this.counts.faults += 1;
    if (!entry.isOptional) findings.add('not_fetched', entry.url, entry.referrer, answer.state);
    return { rest: this.#finish(entry, null) };
  }

  async #finish(entry: Entry, taking: Promise<void> | null): Promise<void> {
    await taking;
    entry.state = 'done';
    this.#waiters.get(entry)?.resolve();
    this.#waiters.delete(entry);
    this.#countDone();
  }

  async #take(entry: Entry, { fetched, bytes }: FetchedAnswer): Promise<void> {
    const { findings, followsLinks } = this.#options;
    const type = typeOfAnswer(fetched, entry.askedAs);
    const isPage = isPageType(type);
    const isProbe = entry.askedAs === 'not_found';
    const isWanted = isProbe ? isPage && isMissing(fetched.status) : fetched.status === 200;
    if (!isWanted) {
      this.#takeOther(entry, fetched);
      return;
    }
    const full = isPage && !isProbe ? this.admission.reasonAgainstPage(this.#size) : null;
    if (full !== null) {
      this.admission.leaveOut(entry.url, { referrer: entry.referrer }, full);
      return;
    }
    // If the export does not follow links, skip pages that scripts request, for example to prefetch them.
    if (entry.askedAs === 'browser' && isPage && !followsLinks) return;
    if (isPageInPlaceOfFile(new URL(entry.url), type, entry.askedAs)) {
      entry.isPageInstead = true;
      if (!entry.isOptional)
        findings.add('not_fetched', entry.url, entry.referrer, 'the response is a page instead of this file');
      return;
    }
    if (isPage && !isProbe) this.counts.pages += 1;
    entry.type = type;
    await this.#keep(entry, fetched, bytes);
    this.#renderIfPage(entry);
  }

  #takeOther(entry: Entry, fetched: FetchedUrl): void {
    const { journal, findings } = this.#options;
    entry.fetched = fetched;
    journal.add(fetched);
    if (fetched.location !== null && entry.askedAs !== 'not_found') this.#follow(entry, fetched.location);
    else if (!entry.isOptional)
      findings.add('not_fetched', entry.url, entry.referrer, `it responds with ${fetched.status}`);
  }

  #follow(entry: Entry, location: string): void {
    const { scope, findings } = this.#options;
    const url = scope.canonical(new URL(location));
    if (url === null) {
      findings.add('not_fetched', entry.url, entry.referrer, 'it redirects to an address that is not http(s)');
    } else if (entry.redirects + 1 > REDIRECTS_MAX || endOf(entry.url, this.entries, scope) === null) {
      findings.add('too_many_redirects', entry.url, entry.referrer, `more than ${REDIRECTS_MAX} redirects, or a loop`);
    } else {
      const { askedAs, depth, isOptional } = entry;
      const [referrer, redirects] = [entry.referrer || entry.url, entry.redirects + 1];
      this.name(url, { askedAs, referrer, depth, isOptional, redirects });
    }
  }

  async #keep(entry: Entry, answered: FetchedUrl, bytes: Uint8Array | null): Promise<void> {
    const { journal, store, settings } = this.#options;
    const source = sourceTypeOfAnswer(entry.type, entry.askedAs);
    const lists = isList(entry);
    // Do not search a body that is too large for a page thread. `#nameListed` reads large sitemaps and feeds from the store.
    const isSmall = bytes !== null || (answered.content?.size ?? 0) <= settings.limits.pageBytesMax;
    const given = bytes ?? answered.content ?? new Uint8Array();
    let read: ReadPage | null = null;
    if (source !== null && isSmall && !lists) {
      const charset = charsetOfType(answered.contentType);
      read = await this.#options.threads.call('read', { url: entry.url, type: source, charset, content: given });
    }
    const content = read?.content ?? (given instanceof Uint8Array ? await store.put(given) : given);
    entry.fetched = { ...answered, content };
    journal.add(entry.fetched);
    this.#bytes += content.size;
    if (lists) await this.#nameListed(entry);
    if (read === null) return;
    entry.source = source;
    entry.isFollowed = settings.robots === 'ignore' || !(answered.noFollow || read.noFollow);
    this.#nameFound(entry, read);
  }

  #nameFound(entry: Entry, read: ReadPage): void {
    const { url: referrer } = entry;
    for (const { kind, url } of read.urls) {
      const isLink = kind === 'link';
      if (isLink && !entry.isFollowed) continue;
      // A mention is text that may be an address. Mark the address as optional, so that docshelf does not report a missing file.
      const [depth, isOptional] = [entry.depth + Number(isLink), kind === 'mention'];
      this.name(url, { askedAs: kind, referrer, depth, isOptional });
    }
    for (const url of read.withDigest) this.withDigest.add(url);
    for (const url of read.payloads)
      this.name(url, { askedAs: 'known_file', referrer, depth: entry.depth, isOptional: true });
  }

  async #nameListed(entry: Entry): Promise<void> {
    const { store, scope } = this.#options;
    if (!hasContent(entry)) return;
    const { depth, url: referrer } = entry;
    for (const { url, askedAs } of await urlsListedIn(entry, store.pathOf(entry.fetched.content.sha256), scope))
      this.name(url, { askedAs, referrer, depth, isOptional: askedAs !== 'link' });
  }

  #renderIfPage(entry: Entry): void {
    if (this.render !== null && isRendered(entry)) this.#queue.await(this.#renderPage(this.render, entry));
  }

  async #renderPage(render: RenderPage, entry: ContentEntry): Promise<void> {
    this.#toRender += 1;
    await render(entry);
    this.#countDone();
  }

  #countDone(): void {
    this.#done += 1;
    this.#options.onProgress(this.#done, this.entries.size + this.#toRender);
  }
}

type FetchedAnswer = Extract<Answer, { readonly kind: 'fetched' }>;

const isRendered = (entry: Entry): entry is ContentEntry =>
  hasContent(entry) && entry.source !== null && isPageType(entry.type) && namesPage(entry.askedAs);

function newEntry(url: string, naming: Naming): Entry {
  const unknown = { fetched: null, settled: null, type: '', source: null, isPageInstead: false };
  return {
    redirects: 0,
    isOptional: false,
    headers: null,
    ...naming,
    ...unknown,
    url,
    state: 'waiting',
    isFollowed: true,
  };
}
