import type { CrawlSettings } from '../domain/crawl.ts';
import type { ArchiveLimits } from '../domain/limits.ts';
import type { FileStore } from '../files/file-store.ts';
import { charsetOfType } from '../web/index.ts';
import { Admission, type CrawlFindings, type CrawlSize, type Naming } from './admission.ts';
import {
  type ContentEntry,
  type Entry,
  type FetchedContent,
  type FetchedUrl,
  hasContent,
  isPageInPlaceOfFile,
  isPageType,
  namesPage,
  sourceTypeOfAnswer,
  typeOfAnswer,
} from './entry.ts';
import { FetchQueue } from './fetch-queue.ts';
import type { CrawlJournal } from './kept/crawl-record.ts';
import { isList, urlsListedIn } from './listed-urls.ts';
import type { PageThreads } from './pages/page-threads.ts';
import type { ReadPage } from './pages/page-work.ts';
import type { Answer, Responder } from './responder.ts';
import type { Robots } from './robots.ts';
import type { Scope } from './scope.ts';

interface PageStoreOptions {
  readonly settings: CrawlSettings;
  readonly scope: Scope;
  readonly journal: CrawlJournal;
  readonly store: FileStore;
  readonly threads: PageThreads;
  readonly findings: CrawlFindings;
  readonly admission: Admission;
  readonly followsLinks: boolean;
  readonly entries: { readonly size: number };
  readonly name: (url: string, naming: Naming) => void;
}

const REDIRECTS_MAX = 10;

class PageStore {
  readonly withDigest = new Set<string>();
  readonly #options: PageStoreOptions;
  #pages = 0;
  #bytes = 0;

  constructor(options: PageStoreOptions) {
    this.#options = options;
  }

  get size(): CrawlSize {
    return { entries: this.#options.entries.size, pages: this.#pages, bytes: this.#bytes };
  }

  async take(entry: Entry, answered: FetchedUrl, bytes: Uint8Array | null): Promise<void> {
    const { journal, findings, admission } = this.#options;
    const type = typeOfAnswer(answered, entry.askedAs);
    const isProbe = entry.askedAs === 'not_found';
    const isWanted = isProbe ? isPageType(type) && isMissing(answered) : answered.status === 200;
    if (!isWanted) {
      entry.fetched = answered;
      journal.add(answered);
      if (answered.location !== null && !isProbe) this.#follow(entry, answered.location);
      else if (!entry.isOptional)
        findings.add('not_fetched', entry.url, entry.referrer, `it answers ${answered.status}`);
      return;
    }
    const full = isPageType(type) && answered.status === 200 ? admission.reasonAgainstPage(this.size) : null;
    if (full !== null) {
      admission.leaveOut(entry.url, { referrer: entry.referrer }, full);
      return;
    }
    // A page that a script loads ahead is not among those of the request.
    if (entry.askedAs === 'browser' && isPageType(type) && !this.#options.followsLinks) return;
    if (isPageInPlaceOfFile(new URL(entry.url), type, entry.askedAs)) {
      entry.isPageInstead = true;
      if (!entry.isOptional) findings.add('not_fetched', entry.url, entry.referrer, 'it answers with a page');
      return;
    }
    if (isPageType(type) && answered.status === 200) this.#pages += 1;
    await this.#keep(entry, answered, bytes);
  }

  /** @param html in UTF-8 */
  async settle(entry: ContentEntry, html: Uint8Array): Promise<void> {
    const read = await this.#options.threads.read({ url: entry.url, type: 'html', charset: 'utf-8', content: html });
    entry.settled = read.content;
    entry.place = read.place;
    entry.charset = read.charset;
    this.#nameAll(entry, read);
  }

  async #keep(entry: Entry, answered: FetchedUrl, bytes: Uint8Array | null): Promise<void> {
    const { threads, journal } = this.#options;
    entry.type = typeOfAnswer(answered, entry.askedAs);
    const source = sourceTypeOfAnswer(entry.type, entry.askedAs);
    const lists = isList(entry);
    // Sitemaps and feeds are read from the store, and a body too large for memory is kept as it is.
    const isSmall = bytes !== null || (answered.content?.size ?? 0) <= this.#options.settings.limits.pageBytesMax;
    const given = bytes ?? answered.content ?? new Uint8Array();
    let read: ReadPage | null = null;
    if (source !== null && isSmall && !lists) {
      const charset = charsetOfType(answered.contentType);
      read = await threads.read({ url: entry.url, type: source, charset, content: given });
    }
    entry.fetched = { ...answered, content: read?.content ?? (await this.#kept(given)) };
    journal.add(entry.fetched);
    this.#bytes += entry.fetched.content?.size ?? 0;
    if (lists) await this.#nameListed(entry);
    if (read === null) return;
    entry.place = read.place;
    entry.charset = read.charset;
    entry.isFollowed = this.#options.settings.robots === 'ignore' || !(answered.noFollow || read.noFollow);
    this.#nameAll(entry, read);
  }

  async #kept(given: Uint8Array | FetchedContent): Promise<FetchedContent> {
    return given instanceof Uint8Array ? { ...(await this.#options.store.put(given)), packed: null } : given;
  }

  #nameAll(entry: Entry, read: ReadPage): void {
    const { url: referrer } = entry;
    for (const { kind, url } of read.urls) {
      const isLink = kind === 'link';
      if (isLink && !entry.isFollowed) continue;
      // A mention may be no address.
      const [depth, isOptional] = [entry.depth + Number(isLink), kind === 'mention'];
      this.#options.name(url, { askedAs: kind, referrer, depth, isOptional });
    }
    for (const url of read.withDigest) this.withDigest.add(url);
    for (const url of read.payloads) {
      this.#options.name(url, { askedAs: 'known_file', referrer, depth: entry.depth, isOptional: true });
    }
  }

  async #nameListed(entry: Entry): Promise<void> {
    const { store, scope } = this.#options;
    if (!hasContent(entry)) return;
    const { depth, url: referrer } = entry;
    for (const { url, askedAs } of await urlsListedIn(entry, store.pathOf(entry.fetched.content.sha256), scope)) {
      this.#options.name(url, { askedAs, referrer, depth, isOptional: askedAs !== 'link' });
    }
  }

  #follow(entry: Entry, location: string): void {
    const { scope, findings } = this.#options;
    const target = new URL(location);
    const url = scope.canonical(target);
    if (url === null) {
      findings.add('not_fetched', entry.url, entry.referrer, 'it redirects to what is not http(s)');
    } else if (entry.redirects + 1 > REDIRECTS_MAX) {
      findings.add('too_many_redirects', entry.url, entry.referrer, `over ${REDIRECTS_MAX} redirects`);
    } else {
      const { askedAs, depth, isOptional } = entry;
      const [referrer, redirects] = [entry.referrer || entry.url, entry.redirects + 1];
      this.#options.name(url, { askedAs, referrer, depth, isOptional, redirects });
    }
  }
}

function isMissing({ status }: FetchedUrl): boolean {
  return status === 404 || status === 410;
}

interface CrawlOptions {
  readonly settings: CrawlSettings;
  readonly archiveLimits: ArchiveLimits;
  readonly scope: Scope;
  readonly responder: Responder;
  readonly journal: CrawlJournal;
  readonly store: FileStore;
  readonly threads: PageThreads;
  readonly findings: CrawlFindings;
  readonly followsLinks: boolean;
  readonly onProgress: (done: number, known: number) => void;
}

type RenderPage = (entry: ContentEntry) => Promise<void>;

/** Requests to another host at a time, as a browser has. */
const OTHER_HOST_IN_FLIGHT = 6;
const IN_FLIGHT_MAX = 64;
/** Answers being read: a few for each thread, and few to lose when the process is killed. */
const RESTING_MAX = 16;

export class Crawl {
  readonly entries = new Map<string, Entry>();
  readonly #options: CrawlOptions;
  readonly #queue: FetchQueue<Entry>;
  readonly #admission: Admission;
  readonly #pages: PageStore;
  readonly #waiters = new Map<Entry, PromiseWithResolvers<void>>();
  #render: RenderPage | null = null;
  #done = 0;
  #rendered = 0;
  #toRender = 0;
  #asked = 0;
  #faults = 0;

  constructor(options: CrawlOptions) {
    this.#options = options;
    const { settings, scope } = options;
    this.#admission = new Admission(options);
    const name = (url: string, naming: Naming): void => this.name(url, naming);
    this.#pages = new PageStore({ ...options, admission: this.#admission, entries: this.entries, name });
    const ownHost = new URL(scope.origin).host;
    this.#queue = new FetchQueue<Entry>({
      work: (entry) => this.#work(entry),
      boundsOf: (host) => ({
        inFlightMax: host === ownHost ? settings.concurrency : Math.min(settings.concurrency, OTHER_HOST_IN_FLIGHT),
        rateMax: settings.rateMax,
      }),
      inFlightMax: Math.max(IN_FLIGHT_MAX, settings.concurrency),
      restingMax: RESTING_MAX,
    });
  }

  get withDigest(): ReadonlySet<string> {
    return this.#pages.withDigest;
  }

  /** Pages: asked for, failed by the server, stored. */
  get counts(): { readonly asked: number; readonly faults: number; readonly pages: number } {
    return { asked: this.#asked, faults: this.#faults, pages: this.#pages.size.pages };
  }

  useRobots(robots: Robots): void {
    this.#admission.useRobots(robots);
  }

  useRenderer(render: RenderPage): void {
    this.#render = render;
  }

  onBusy(host: string, ms: number): void {
    this.#queue.hold(host, ms);
    this.#queue.slowDown(host);
  }

  /** Known addresses, other sites' and those to be left out are passed over. */
  name(url: string, naming: Naming): void {
    const known = this.entries.get(url);
    if (known?.askedAs === 'browser' && naming.askedAs === 'link') this.#promote(known, naming);
    if (known !== undefined) return;
    const entry = this.#admit(url, naming);
    if (entry !== null) this.#queue.add(new URL(url).host, entry);
  }

  /** At once, past queue and rules. */
  async visit(url: string, naming: Naming): Promise<Entry> {
    const known = this.entries.get(url);
    if (known !== undefined) return known;
    const entry = newEntry(url, naming);
    this.entries.set(url, entry);
    const { rest } = await this.#work(entry);
    await rest;
    return entry;
  }

  /** Before all that nobody waits for; null where it is not taken on. */
  async ask(url: string, naming: Naming): Promise<Entry | null> {
    const entry = this.entries.get(url) ?? this.#admit(url, naming);
    if (entry === null || entry.state === 'done') return entry;
    if (entry.state === 'waiting') this.#queue.addUrgent(new URL(url).host, entry);
    const waiter = this.#waiters.get(entry) ?? Promise.withResolvers<void>();
    this.#waiters.set(entry, waiter);
    await waiter.promise;
    return entry;
  }

  async settle(entry: ContentEntry, html: Uint8Array): Promise<void> {
    await this.#pages.settle(entry, html);
  }

  /** Resolves when every named address was asked for. @throws what storing throws; what `end` is given */
  async finish(): Promise<void> {
    await this.#queue.drain();
  }

  end(reason: unknown): void {
    this.#queue.end(reason);
  }

  #promote(entry: Entry, naming: Naming): void {
    if (!this.#admission.admits(entry.url, naming, this.#pages.size)) return;
    entry.askedAs = naming.askedAs;
    if (entry.state === 'done') this.#renderIfPage(entry);
  }

  #admit(url: string, naming: Naming): Entry | null {
    if (!this.#admission.admits(url, naming, this.#pages.size)) return null;
    const entry = newEntry(url, naming);
    this.entries.set(url, entry);
    return entry;
  }

  async #work(entry: Entry): Promise<{ readonly rest: Promise<void> }> {
    const { responder, findings } = this.#options;
    // Asked for ahead of its turn.
    if (entry.state !== 'waiting') return { rest: Promise.resolve() };
    entry.state = 'asked';
    const isLink = entry.askedAs === 'link';
    // The limit may have been reached while it waited.
    const full = isLink ? this.#admission.reasonAgainstPage(this.#pages.size) : null;
    if (full !== null) {
      this.#admission.leaveOut(entry.url, entry, full);
      return { rest: this.#count(entry, null) };
    }
    if (isLink) this.#asked += 1;
    const answer = await responder.get(entry.url, entry.headers);
    if (answer.kind === 'fetched') return { rest: this.#count(entry, this.#take(entry, answer)) };
    if (isLink && answer.isServerFault) this.#faults += 1;
    if (!entry.isOptional) findings.add('not_fetched', entry.url, entry.referrer, answer.state);
    return { rest: this.#count(entry, null) };
  }

  async #take(entry: Entry, { fetched, bytes }: Extract<Answer, { readonly kind: 'fetched' }>): Promise<void> {
    await this.#pages.take(entry, fetched, bytes);
    this.#renderIfPage(entry);
  }

  #renderIfPage(entry: Entry): void {
    if (this.#render !== null && isRendered(entry)) this.#queue.await(this.#renderPage(this.#render, entry));
  }

  async #renderPage(render: RenderPage, entry: ContentEntry): Promise<void> {
    this.#toRender += 1;
    await render(entry);
    this.#rendered += 1;
    this.#tell();
  }

  async #count(entry: Entry, taking: Promise<void> | null): Promise<void> {
    await taking;
    entry.state = 'done';
    this.#waiters.get(entry)?.resolve();
    this.#waiters.delete(entry);
    this.#done += 1;
    this.#tell();
  }

  #tell(): void {
    this.#options.onProgress(this.#done + this.#rendered, this.entries.size + this.#toRender);
  }
}

function isRendered(entry: Entry): entry is ContentEntry {
  return hasContent(entry) && entry.place !== null && isPageType(entry.type) && namesPage(entry.askedAs);
}

function newEntry(url: string, naming: Naming): Entry {
  const unknown = { fetched: null, settled: null, type: '', charset: null, place: null, isPageInstead: false };
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
