import type { FileEntry, TrailingSlash } from '../../domain/release.ts';
import { LineSpool } from '../../files/index.ts';
import { encodeAddress } from '../../web/escape.ts';
import { type PageOutline, percentDecode, type Reference, resolvePath } from '../../web/index.ts';
import type { PublishedAt } from './published-address.ts';

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
export class ServedSite {
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

export interface CheckedPage {
  readonly path: string;
  readonly base: string | null;
  /** In the order of the page; pictures of `srcset` after all others, and what styles load at the end. */
  readonly references: readonly Reference[];
}

/** References wait in a spool (100 each of 20,000 pages took 120 MB); a page's anchors are one string in memory. */
export class CheckedPages {
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
