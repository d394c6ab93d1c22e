import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Finding } from '../domain/job.ts';
import { type FileEntry, isPage, type TrailingSlash } from '../domain/release.ts';
import { showName } from '../domain/secret.ts';
import { LineSpool } from '../files/index.ts';
import { mapAhead } from '../files/lanes.ts';
import { decodeOrKeep, encodeAddress, percentDecode } from '../web/escape.ts';
import { charsetOfType, pageText } from '../web/media-type.ts';
import { outlinePage, type PageReferences, type Reference } from '../web/references.ts';
import { fileAt } from '../web/resolve.ts';
import { styleReferences } from '../web/rewrite/find-references.ts';
import { utf8Bytes } from '../web/rewrite/source-text.ts';
import { TrailingSlashVotes } from '../web/trailing-slash.ts';

export interface CheckSiteOptions {
  readonly siteDir: string;
  readonly spoolFile: string;
  readonly files: readonly FileEntry[];
  readonly hosts: readonly string[];
  readonly find: (finding: Finding) => void;
  /** Progress counts each page and style sheet twice: when it is read, and when its references are followed. */
  readonly onProgress: (done: number, total: number) => void;
  readonly signal: AbortSignal;
}

const STYLE_SHEET = /^text\/css(?:;|$)/i;
const FOLLOWED_AT_ONCE = 100;
const READ_AHEAD = 8;

/** Addresses in one page. Stored as a line of a temporary file: 20,000 pages with 100 addresses each took 120 MB of memory. */
type CheckedPage = { readonly path: string; readonly base: string | null; readonly references: readonly Reference[] };

type Anchors = ReadonlyMap<string, string>;

/** Checks each reference in attributes, `srcset` and styles of all pages and style sheets, but no reference in scripts. */
export async function checkSite(options: CheckSiteOptions): Promise<void> {
  const { siteDir, spoolFile, files, hosts, find, onProgress, signal } = options;
  const table = new Map(files.map((file) => [file.path, file]));
  const votes = new TrailingSlashVotes(table);
  const published = new PublishedAddress();
  const anchors = new Map<string, string>();
  using spool = new LineSpool(spoolFile);

  const pageFiles = files.filter(({ path }) => isPage(path));
  const styleSheets = files.filter(({ type }) => STYLE_SHEET.test(type));
  const total = 2 * (pageFiles.length + styleSheets.length);
  let done = 0;
  const contents = mapAhead([...pageFiles, ...styleSheets], READ_AHEAD, async (file) => {
    return { file, bytes: await readFile(join(siteDir, file.path)) };
  });
  for await (const { file, bytes } of contents) {
    const { path, type } = file;
    const styleType = isPage(path) ? 'html' : 'css';
    const styles = styleReferences({ type: styleType, bytes: utf8Bytes(bytes, styleType, charsetOfType(type)) });
    let page: CheckedPage = { path, base: null, references: styles };
    if (isPage(path)) {
      const outline = outlinePage(pageText(bytes, type));
      votes.addReferences(path, outline);
      published.addPage(path, outline);
      anchors.set(path, `\n${[...outline.anchors].join('\n')}\n`);
      page = { path, base: outline.base, references: [...outline.references, ...outline.pictures, ...styles] };
    }
    if (isPage(path) || styles.length > 0) spool.add(JSON.stringify(page));
    onProgress(++done, total);
    signal.throwIfAborted();
  }

  const site = new ServedSite(table, votes.decide(), hosts, published.decide());
  for (const line of spool.lines()) {
    for (const finding of findFaults(JSON.parse(line) as CheckedPage, site, anchors)) find(finding);
    onProgress(++done, total);
    if (done % FOLLOWED_AT_ONCE === 0) await setImmediate();
    signal.throwIfAborted();
  }
  if (done < total) onProgress(total, total);
}

const DIRECTIVE = ':~:';

function* findFaults(page: CheckedPage, site: ServedSite, anchors: Anchors): Generator<Finding> {
  const base = site.baseOf(page.path, page.base);
  for (const reference of page.references) {
    if (reference.kind === 'canonical') continue;
    const target = site.targetOf(reference.url, base);
    if (target?.kind === 'elsewhere' && reference.kind === 'asset')
      yield finding('off_origin_load', page, reference, ` from ${target.host}`);
    if (target?.kind !== 'own') continue;
    const file = target.path === null ? null : site.answerTo(target.path);
    if (file === null) yield finding('broken_reference', page, reference);
    else if (reference.kind === 'link' && !hasAnchor(anchors.get(file), target.fragment)) {
      yield finding('missing_fragment', page, reference);
    }
  }
}

function hasAnchor(anchors: string | undefined, fragment: string): boolean {
  const [name = ''] = fragment.split(DIRECTIVE);
  const decoded = decodeOrKeep(name);
  // A fragment with a slash at its start is an address of a script, such as `#/guide` or `#!/guide`.
  if (/^(?:$|!?\/)/.test(name) || anchors === undefined || decoded.toLowerCase() === 'top') return true;
  return anchors.includes(`\n${name}\n`) || anchors.includes(`\n${decoded}\n`);
}

function finding(kind: string, { path }: CheckedPage, { tag, attribute, url }: Reference, more = ''): Finding {
  return { kind, page: path, detail: `${tag} ${attribute}="${showName(url)}"${more}` };
}

type ServedTarget =
  | { readonly kind: 'own'; readonly path: string | null; readonly fragment: string }
  | { readonly kind: 'elsewhere'; readonly host: string };

const OWN_ORIGIN = 'http://site.invalid';
/** Matches references such as `mailto:` and `data:`, which need no check. Most pages have many, so skip the slow URL parser. */
const NO_PLACE = /^(?!https?:|file:)[a-z][a-z0-9+.-]*:/i;
const NOT_FOUND_PAGE = /(?:^|\/)404(?:\/index)?\.x?html?$/i;

class ServedSite {
  readonly #files: ReadonlyMap<string, FileEntry>;
  readonly #trailingSlash: TrailingSlash;
  readonly #hosts: ReadonlySet<string>;
  readonly #published: PublishedAt | null;

  constructor(
    files: ReadonlyMap<string, FileEntry>,
    trailingSlash: TrailingSlash,
    hosts: readonly string[],
    published: PublishedAt | null,
  ) {
    this.#files = files;
    this.#trailingSlash = trailingSlash;
    this.#hosts = new Set(hosts);
    this.#published = published;
  }

  baseOf(path: string, base: string | null): string {
    const own = OWN_ORIGIN + encodeAddress(this.#addressOf(path));
    return base === null ? own : (URL.parse(base, own)?.href ?? own);
  }

  targetOf(reference: string, base: string): ServedTarget | null {
    if (NO_PLACE.test(reference)) return null;
    const url = URL.parse(reference, base);
    // Browsers do not load `file:` addresses from the pages of a website.
    if (url?.protocol === 'file:') return { kind: 'own', path: null, fragment: '' };
    if (url === null || !/^https?:$/.test(url.protocol)) return null;
    const pathname = this.#ownPathname(url);
    if (pathname === null) return { kind: 'elsewhere', host: url.host };
    return { kind: 'own', path: percentDecode(pathname)?.slice(1) ?? null, fragment: url.hash.slice(1) };
  }

  answerTo(path: string): string | null {
    return fileAt(this.#files, path, this.#trailingSlash);
  }

  #ownPathname({ origin, hostname, pathname }: URL): string | null {
    if (origin === OWN_ORIGIN) return pathname;
    const published = this.#published;
    if (published !== null && origin === published.origin && pathname.startsWith(published.prefix))
      return pathname.slice(published.prefix.length - 1);
    return this.#hosts.has(hostname) ? pathname : null;
  }

  #addressOf(path: string): string {
    const folder = path.replace(INDEX_PAGE, '');
    if (folder === path || NOT_FOUND_PAGE.test(path)) return `/${path}`;
    if (folder === '') return '/';
    // `/x` can be the address of `x.html` instead of `x/index.html`. In this case, the address of the folder needs a slash.
    const needsSlash = this.#trailingSlash === 'always' || this.answerTo(folder) !== path;
    return `/${folder}${needsSlash ? '/' : ''}`;
  }
}

type PublishedAt = { readonly origin: string; readonly prefix: string };

const INDEX_PAGE = /(?:^|\/)index\.x?html?$/i;
const EXTENSION = /\.x?html?$/i;

/** Finds the address of the published site: the most frequent canonical address of its pages, without the path of the page. */
class PublishedAddress {
  readonly #votes = new Map<string, PublishedAt & { count: number }>();

  addPage(path: string, { references }: PageReferences): void {
    const canonical = references.find(({ kind }) => kind === 'canonical');
    const url = canonical === undefined ? null : URL.parse(canonical.url);
    if (url === null || !/^https?:$/.test(url.protocol)) return;
    const prefix = prefixOf(decodeOrKeep(url.pathname), path);
    if (prefix === null) return;
    const key = url.origin + prefix;
    const vote = this.#votes.get(key) ?? { origin: url.origin, prefix, count: 0 };
    vote.count += 1;
    this.#votes.set(key, vote);
  }

  decide(): PublishedAt | null {
    const [most] = [...this.#votes.values()].sort((a, b) => b.count - a.count);
    return most ?? null;
  }
}

function prefixOf(address: string, path: string): string | null {
  const folder = path.replace(INDEX_PAGE, '');
  const forms =
    folder === path ? [path, path.replace(EXTENSION, '')] : [path, folder, folder === '' ? '' : `${folder}/`];
  for (const form of forms) if (address.endsWith(`/${form}`)) return address.slice(0, address.length - form.length);
  return null;
}
