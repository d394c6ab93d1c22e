import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Finding } from '../domain/job.ts';
import { type FileEntry, isPage, type TrailingSlash } from '../domain/release.ts';
import { showName } from '../domain/secret.ts';
import { LineSpool } from '../files/index.ts';
import { mapAhead } from '../files/lanes.ts';
import {
  charsetOfType,
  decodeOrKeep,
  markedCharset,
  outlinePage,
  type PageOutline,
  type PageReferences,
  pageText,
  percentDecode,
  type Reference,
  resolvePath,
  styleReferences,
  TrailingSlashVotes,
} from '../web/index.ts';
import { encodeAddress } from '../web/percent-encode.ts';

/** The site's public address by its own canonicals: `https://docs.acme.dev`, `/` or `/docs/`. */
interface PublishedAt {
  readonly origin: string;
  readonly prefix: string;
}

const INDEX_PAGE = /(?:^|\/)index\.x?html?$/i;
const EXTENSION = /\.x?html?$/i;

/** The address that a site is published at: a vote of each page whose canonical address ends with the page's own path. */
class PublishedAddress {
  readonly #votes = new Map<string, { readonly at: PublishedAt; count: number }>();

  addPage(path: string, { references }: PageReferences): void {
    const canonical = references.find(({ kind }) => kind === 'canonical');
    const url = canonical === undefined ? null : URL.parse(canonical.url);
    if (url === null || !/^https?:$/.test(url.protocol)) return;
    const prefix = prefixOf(decodeOrKeep(url.pathname), path);
    if (prefix === null) return;
    const key = url.origin + prefix;
    const vote = this.#votes.get(key) ?? { at: { origin: url.origin, prefix }, count: 0 };
    vote.count += 1;
    this.#votes.set(key, vote);
  }

  decide(): PublishedAt | null {
    const [most] = [...this.#votes.values()].sort((a, b) => b.count - a.count);
    return most?.at ?? null;
  }
}

function prefixOf(address: string, path: string): string | null {
  const folder = path.replace(INDEX_PAGE, '');
  const forms =
    folder === path ? [path, path.replace(EXTENSION, '')] : [path, folder, folder === '' ? '' : `${folder}/`];
  for (const form of forms) if (address.endsWith(`/${form}`)) return address.slice(0, address.length - form.length);
  return null;
}

/** A path of the site, another host, or nothing to request (`mailto:`). */
type ServedTarget =
  | { readonly kind: 'own'; readonly path: string | null; readonly fragment: string }
  | { readonly kind: 'elsewhere'; readonly host: string }
  | { readonly kind: 'none' };

interface ServedSiteOptions {
  readonly files: ReadonlyMap<string, FileEntry>;
  readonly trailingSlash: TrailingSlash;
  readonly hosts: readonly string[];
  readonly published: PublishedAt | null;
}

/** Stands for the site's own host. */
const OWN_ORIGIN = 'http://site.invalid';
const NONE: ServedTarget = { kind: 'none' };
/** Looked for before an URL is parsed: most pages have many. */
const NO_PLACE = /^(?!https?:)[a-z][a-z0-9+.-]*:/i;
const FOLDER_PAGE = /(?:^|\/)index\.x?html?$/i;
const NOT_FOUND_PAGE = /(?:^|\/)404(?:\/index)?\.x?html?$/i;

/** The site as docshelf will serve it: the addresses of its pages, and what answers an address. */
class ServedSite {
  readonly #options: ServedSiteOptions;
  readonly #hosts: ReadonlySet<string>;
  readonly #answers = new Map<string, string | null>();

  constructor(options: ServedSiteOptions) {
    this.#options = options;
    this.#hosts = new Set(options.hosts);
  }

  baseOf(path: string, base: string | null): string {
    const own = OWN_ORIGIN + encodeAddress(this.#addressOf(path));
    return base === null ? own : (URL.parse(base, own)?.href ?? own);
  }

  targetOf(reference: string, base: string): ServedTarget {
    if (NO_PLACE.test(reference)) return NONE;
    const url = URL.parse(reference, base);
    if (url === null || !/^https?:$/.test(url.protocol)) return NONE;
    const pathname = this.#ownPathname(url);
    if (pathname === null) return { kind: 'elsewhere', host: url.host };
    return { kind: 'own', path: percentDecode(pathname)?.slice(1) ?? null, fragment: url.hash.slice(1) };
  }

  /** The file that answers a path, after a redirect where there is one; null where none does. */
  answerTo(path: string): string | null {
    const known = this.#answers.get(path);
    if (known !== undefined) return known;
    const { files, trailingSlash } = this.#options;
    let found = resolvePath(files, path, trailingSlash);
    // All redirects of `resolvePath` add a slash or take it away.
    const other = path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
    if (found.kind === 'redirect') found = resolvePath(files, other, trailingSlash);
    const answer = found.kind === 'file' ? found.path : null;
    this.#answers.set(path, answer);
    return answer;
  }

  #ownPathname({ origin, hostname, pathname }: URL): string | null {
    if (origin === OWN_ORIGIN) return pathname;
    const { published } = this.#options;
    if (published !== null && origin === published.origin && pathname.startsWith(published.prefix)) {
      return pathname.slice(published.prefix.length - 1);
    }
    return this.#hosts.has(hostname) ? pathname : null;
  }

  /** The page's address: a folder's page with its slash or without, any other by its file's name. */
  #addressOf(path: string): string {
    const folder = path.replace(FOLDER_PAGE, '');
    if (folder === path || NOT_FOUND_PAGE.test(path)) return `/${path}`;
    if (folder === '') return '/';
    // `x.html` has the address without the slash to itself.
    const needsSlash = this.#options.trailingSlash === 'always' || this.answerTo(folder) !== path;
    return `/${folder}${needsSlash ? '/' : ''}`;
  }
}

interface CheckedPage {
  readonly path: string;
  readonly base: string | null;
  /** In the order of the page; pictures of `srcset` after all others, and what styles load at the end. */
  readonly references: readonly Reference[];
}

/** References wait in a spool (100 each of 20,000 pages took 120 MB); a page's anchors are one string in memory. */
class CheckedPages {
  readonly #spool: LineSpool;
  readonly #anchors = new Map<string, string>();

  /** @param spoolFile a free path, unlinked at once */
  constructor(spoolFile: string) {
    this.#spool = new LineSpool(spoolFile);
  }

  add(path: string, { base, references, pictures, anchors }: PageOutline, styles: readonly Reference[]): void {
    this.#keep({ path, base, references: [...references, ...pictures, ...styles] });
    this.#anchors.set(path, `\n${[...anchors].join('\n')}\n`);
  }

  addStyleSheet(path: string, references: readonly Reference[]): void {
    if (references.length > 0) this.#keep({ path, base: null, references });
  }

  *all(): Generator<CheckedPage> {
    for (const line of this.#spool.lines()) yield JSON.parse(line) as CheckedPage;
  }

  hasAnchor(path: string, name: string): boolean | null {
    return this.#anchors.get(path)?.includes(`\n${name}\n`) ?? null;
  }

  #keep(page: CheckedPage): void {
    this.#spool.add(JSON.stringify(page));
  }

  [Symbol.dispose](): void {
    this.#spool[Symbol.dispose]();
  }
}

export interface CheckSiteOptions {
  readonly siteDir: string;
  readonly spoolFile: string;
  readonly files: readonly FileEntry[];
  readonly hosts: readonly string[];
  /** Called in the order of pages and of references. */
  readonly find: (finding: Finding) => void;
  /** Each page and style sheet counts twice: as read, and as followed. */
  readonly onProgress: (done: number, total: number) => void;
  readonly signal: AbortSignal;
}

const STYLE_SHEET = /^text\/css(?:;|$)/i;
/** Pages whose references are followed without a pause: some 20 ms. */
const FOLLOWED_AT_ONCE = 100;
const READ_AHEAD = 8;

/**
 * Reads every page and style sheet once, then follows every reference. Finds `broken_reference` (to no file, as
 * docshelf serves the site), `missing_fragment` and `off_origin_load` (of a page, from another host).
 * Checked are attributes that name URLs, `srcset` too, and styles. Not checked: scripts and what they load, `srcdoc`,
 * meta refresh; and fragments of files that are no pages.
 */
export async function checkSite(options: CheckSiteOptions): Promise<void> {
  const { siteDir, spoolFile, files, hosts, find, onProgress, signal } = options;
  const table = new Map(files.map((file) => [file.path, file]));
  const votes = new TrailingSlashVotes(table);
  const published = new PublishedAddress();
  using pages = new CheckedPages(spoolFile);

  const pageFiles = files.filter(({ path }) => isPage(path));
  const styleSheets = files.filter(({ type }) => STYLE_SHEET.test(type));
  const total = 2 * (pageFiles.length + styleSheets.length);
  let done = 0;
  const contents = mapAhead([...pageFiles, ...styleSheets], READ_AHEAD, async (file) => {
    return { file, bytes: await readFile(join(siteDir, file.path)) };
  });
  for await (const { file, bytes } of contents) {
    const { path, type } = file;
    const charset = markedCharset(bytes) ?? charsetOfType(type) ?? 'utf-8';
    if (isPage(path)) {
      const outline = outlinePage(pageText(bytes, type));
      votes.addReferences(path, outline);
      published.addPage(path, outline);
      pages.add(path, outline, styleReferences({ type: 'html', bytes, charset }));
    } else pages.addStyleSheet(path, styleReferences({ type: 'css', bytes, charset }));
    onProgress(++done, total);
    signal.throwIfAborted();
  }

  const site = new ServedSite({ files: table, trailingSlash: votes.decide(), hosts, published: published.decide() });
  for (const page of pages.all()) {
    for (const finding of findFaults(page, site, pages)) find(finding);
    onProgress(++done, total);
    // Without a pause nobody could abort.
    if (done % FOLLOWED_AT_ONCE === 0) await setImmediate();
    signal.throwIfAborted();
  }
  // A style sheet that loads nothing is not followed.
  if (done < total) onProgress(total, total);
}

const DIRECTIVE = ':~:';

function* findFaults(page: CheckedPage, site: ServedSite, pages: CheckedPages): Generator<Finding> {
  const base = site.baseOf(page.path, page.base);
  for (const reference of page.references) {
    if (reference.kind === 'canonical') continue;
    const target = site.targetOf(reference.url, base);
    if (target.kind === 'elsewhere' && reference.kind === 'asset') {
      yield finding('off_origin_load', page, reference, ` from ${target.host}`);
    }
    if (target.kind !== 'own') continue;
    const file = target.path === null ? null : site.answerTo(target.path);
    if (file === null) yield finding('broken_reference', page, reference);
    else if (reference.kind === 'link' && !hasAnchor(pages, file, target.fragment)) {
      yield finding('missing_fragment', page, reference);
    }
  }
}

/** HTML standard, "select the indicated part". True for files that are no pages. */
function hasAnchor(pages: CheckedPages, path: string, fragment: string): boolean {
  const [name = ''] = fragment.split(DIRECTIVE);
  if (name === '' || pages.hasAnchor(path, name) !== false) return true;
  const decoded = decodeOrKeep(name);
  return decoded.toLowerCase() === 'top' || pages.hasAnchor(path, decoded) === true;
}

function finding(kind: string, { path }: CheckedPage, { tag, attribute, url }: Reference, more = ''): Finding {
  return { kind, page: path, detail: `${tag} ${attribute}="${showName(url)}"${more}` };
}
