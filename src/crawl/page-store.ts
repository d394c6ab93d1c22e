import type { CrawlSettings } from '../domain/crawl.ts';
import type { FileStore } from '../files/file-store.ts';
import { charsetOfType } from '../web/index.ts';
import type { Admission, CrawlSize, Naming } from './admission.ts';
import { isPageInPlaceOfFile, isPageType, sourceTypeOfAnswer, typeOfAnswer } from './ask/answer-type.ts';
import type { FetchedContent, FetchedUrl } from './ask/fetched-url.ts';
import type { CrawlFindings } from './crawl-findings.ts';
import { type ContentEntry, type Entry, hasContent } from './entry.ts';
import type { CrawlJournal } from './kept/journal.ts';
import { isList, urlsListedIn } from './listed-urls.ts';
import type { PageThreads } from './pages/page-threads.ts';
import type { ReadPage } from './pages/page-work.ts';
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

export class PageStore {
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
