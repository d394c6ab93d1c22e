import type { CrawlSettings } from '../../domain/crawl.ts';
import type { ArchiveLimits } from '../../domain/limits.ts';
import type { FileStore } from '../file-store.ts';
import { type AskedAs, isPageInPlaceOfFile, isPageType, sourceTypeOfAnswer, typeOfAnswer } from './answer-type.ts';
import type { Answering } from './answering.ts';
import type { CrawlFindings } from './crawl-findings.ts';
import { type Entry, hasContent } from './entry.ts';
import { FetchQueue } from './fetch-queue.ts';
import { charsetOf, type FetchedContent, type FetchedUrl } from './fetched-url.ts';
import type { CrawlJournal } from './journal.ts';
import { isList, urlsListedIn } from './listed-urls.ts';
import type { PageThreads } from './page-threads.ts';
import type { ReadPage } from './page-work.ts';
import type { Robots } from './robots.ts';
import type { Scope } from './scope.ts';
import { Traps } from './traps.ts';

export interface CrawlOptions {
  readonly settings: CrawlSettings;
  readonly archiveLimits: ArchiveLimits;
  readonly scope: Scope;
  readonly answering: Answering;
  readonly journal: CrawlJournal;
  readonly store: FileStore;
  readonly threads: PageThreads;
  readonly findings: CrawlFindings;
  /** Whether links to pages are followed: not where the request names its pages. */
  readonly followsLinks: boolean;
  readonly onProgress: (done: number, known: number) => void;
}

/** Other hosts give what pages load, and are asked as a browser does. */
const OTHER_HOST_IN_FLIGHT = 6;
const IN_FLIGHT_MAX = 64;
/** Answers that are looked through: a few for each thread, and few enough to lose when the process is killed. */
const RESTING_MAX = 16;
const REDIRECTS_MAX = 10;
/** Less than an archive may have: redirects, search data and the manifest come on top. */
const ENTRIES_SHARE = 0.9;

/** What is named by whom, and how far from the start. */
interface Naming {
  readonly askedAs: AskedAs;
  readonly referrer: string;
  readonly depth: number;
  readonly redirects?: number;
  readonly isOptional?: boolean;
}

/** Goes from address to address, and keeps what each of them answers. */
export class Crawl {
  /** By canonical address. */
  readonly entries = new Map<string, Entry>();
  /** Addresses that some page names a digest of. */
  readonly withDigest = new Set<string>();
  readonly #options: CrawlOptions;
  readonly #queue: FetchQueue<Entry>;
  readonly #traps: Traps;
  #robots: Robots | null = null;
  #done = 0;
  #pages = 0;
  #bytes = 0;
  /** Pages that were asked for, and those of them that the server failed to give. */
  #asked = 0;
  #faults = 0;

  constructor(options: CrawlOptions) {
    this.#options = options;
    const { settings, scope } = options;
    this.#traps = new Traps(settings.limits);
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

  /** Pages and other files that it has content of. */
  get counts(): { readonly asked: number; readonly faults: number; readonly pages: number } {
    return { asked: this.#asked, faults: this.#faults, pages: this.#pages };
  }

  useRobots(robots: Robots): void {
    this.#robots = robots;
  }

  onBusy(host: string, ms: number): void {
    this.#queue.hold(host, ms);
    this.#queue.slowDown(host);
  }

  /** Takes an address on, unless it is known, elsewhere, or to be left out. */
  name(url: string, naming: Naming): void {
    if (this.entries.has(url)) return;
    const entry = this.#admit(url, naming);
    if (entry !== null) this.#queue.add(new URL(url).host, entry);
  }

  /** Asks for one address at once, whatever it is. */
  async visit(url: string, naming: Naming): Promise<Entry> {
    const known = this.entries.get(url);
    if (known !== undefined) return known;
    const entry = newEntry(url, naming);
    this.entries.set(url, entry);
    const { rest } = await this.#work(entry);
    await rest;
    return entry;
  }

  /** Resolves when every address that was named has been asked for. @throws what storing throws; what `end` is given */
  async finish(): Promise<void> {
    await this.#queue.drain();
  }

  end(reason: unknown): void {
    this.#queue.end(reason);
  }

  #admit(url: string, naming: Naming): Entry | null {
    const { scope, settings, findings, followsLinks, archiveLimits } = this.#options;
    const parsed = new URL(url);
    const isLink = naming.askedAs === 'link' || naming.askedAs === 'frame';
    const isOwn = scope.isOwn(parsed);
    if (isLink && (!isOwn || !scope.holdsPage(parsed))) return null;
    if (isLink && !followsLinks && naming.depth > 0) return null;
    const leaveOut = (why: string): null => {
      if (naming.isOptional !== true) findings.add('left_out', url, naming.referrer, why);
      return null;
    };
    const { depthMax } = settings.limits;
    if (isOwn && this.#robots?.allows(parsed) === false) return leaveOut('robots.txt disallows it');
    if (naming.depth > depthMax) return leaveOut(`it is more than ${depthMax} links away from the start`);
    if (isLink && this.#isFull) return leaveOut(this.#fullState);
    if (this.entries.size >= archiveLimits.entriesMax * ENTRIES_SHARE) return leaveOut('the export has too many files');
    if (this.#bytes >= archiveLimits.totalBytesMax) return leaveOut('the export has too many bytes');
    const trap = this.#traps.judge(parsed, isLink);
    if (trap !== null) return leaveOut(trap);
    const entry = newEntry(url, naming);
    this.entries.set(url, entry);
    return entry;
  }

  /** Asks for an address; `rest` keeps what it answered. */
  async #work(entry: Entry): Promise<{ readonly rest: Promise<void> }> {
    const { answering, findings } = this.#options;
    const isLink = entry.askedAs === 'link';
    // What waited while the limit was reached.
    if (isLink && this.#isFull) {
      this.#leaveOutPage(entry);
      return { rest: this.#count(null) };
    }
    if (isLink) this.#asked += 1;
    const answer = await answering.get(entry.url);
    if (answer.kind === 'fetched') return { rest: this.#count(this.#take(entry, answer.fetched, answer.bytes)) };
    if (isLink && answer.isServerFault) this.#faults += 1;
    if (!entry.isOptional) findings.add('not_fetched', entry.url, entry.referrer, answer.state);
    return { rest: this.#count(null) };
  }

  async #count(taking: Promise<void> | null): Promise<void> {
    await taking;
    this.#done += 1;
    this.#options.onProgress(this.#done, this.entries.size);
  }

  get #isFull(): boolean {
    return this.#pages >= this.#options.settings.limits.pagesMax;
  }

  get #fullState(): string {
    return `the export has ${this.#options.settings.limits.pagesMax} pages, which is its limit`;
  }

  #leaveOutPage({ url, referrer }: Entry): void {
    this.#options.findings.add('left_out', url, referrer, this.#fullState);
  }

  /** Keeps what an address answered, and names what it leads to. */
  async #take(entry: Entry, answered: FetchedUrl, bytes: Uint8Array | null): Promise<void> {
    const { journal, findings } = this.#options;
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
    if (isPageType(type) && this.#isFull && answered.status === 200) {
      this.#leaveOutPage(entry);
      return;
    }
    if (isPageInPlaceOfFile(new URL(entry.url), type, entry.askedAs)) {
      if (!entry.isOptional) findings.add('not_fetched', entry.url, entry.referrer, 'it answers with a page');
      return;
    }
    if (isPageType(type) && answered.status === 200) this.#pages += 1;
    await this.#keep(entry, answered, bytes);
  }

  async #keep(entry: Entry, answered: FetchedUrl, bytes: Uint8Array | null): Promise<void> {
    const { threads, journal } = this.#options;
    entry.type = typeOfAnswer(answered, entry.askedAs);
    const source = sourceTypeOfAnswer(entry.type, entry.askedAs);
    // What was too large for memory is kept as it is.
    const isSmall = bytes !== null || (answered.content?.size ?? 0) <= this.#options.settings.limits.pageBytesMax;
    const given = bytes ?? answered.content ?? new Uint8Array();
    let read: ReadPage | null = null;
    if (source !== null && isSmall) {
      read = await threads.read({ url: entry.url, type: source, charset: charsetOf(answered), content: given });
    }
    entry.fetched = { ...answered, content: read?.content ?? (await this.#kept(given)) };
    journal.add(entry.fetched);
    this.#bytes += entry.fetched.content?.size ?? 0;
    if (isList(entry)) await this.#nameListed(entry);
    if (read === null) return;
    entry.place = read.place;
    entry.charset = read.charset;
    this.#nameAll(entry, read, answered.noFollow || read.noFollow);
  }

  async #kept(given: Uint8Array | FetchedContent): Promise<FetchedContent> {
    return given instanceof Uint8Array ? { ...(await this.#options.store.put(given)), packed: null } : given;
  }

  #nameAll(entry: Entry, read: ReadPage, saysNoFollow: boolean): void {
    const isFollowed = !saysNoFollow || this.#options.settings.robots === 'ignore';
    const { url: referrer } = entry;
    for (const { kind, url } of read.urls) {
      const isLink = kind === 'link';
      // What a page loads is as far away as the page is.
      if (!isLink || isFollowed) this.name(url, { askedAs: kind, referrer, depth: entry.depth + Number(isLink) });
    }
    for (const url of read.withDigest) this.withDigest.add(url);
    for (const url of read.payloads) {
      this.name(url, { askedAs: 'known_file', referrer, depth: entry.depth, isOptional: true });
    }
  }

  async #nameListed(entry: Entry): Promise<void> {
    const { store, scope } = this.#options;
    if (!hasContent(entry)) return;
    const { depth, url: referrer } = entry;
    for (const { url, askedAs } of await urlsListedIn(entry, store.pathOf(entry.fetched.content.sha256), scope)) {
      this.name(url, { askedAs, referrer, depth, isOptional: askedAs !== 'link' });
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
      const { askedAs, referrer, depth, isOptional } = entry;
      this.name(url, {
        askedAs,
        referrer: referrer === '' ? entry.url : referrer,
        depth,
        isOptional,
        redirects: entry.redirects + 1,
      });
    }
  }
}

/** Said of an address that cannot be: not all sites do. */
function isMissing({ status }: FetchedUrl): boolean {
  return status === 404 || status === 410;
}

function newEntry(url: string, naming: Naming): Entry {
  const { askedAs, referrer, depth, redirects = 0, isOptional = false } = naming;
  return { url, askedAs, referrer, depth, redirects, isOptional, fetched: null, type: '', charset: null, place: null };
}
