import { posix } from 'node:path';
import { decodeOrKeep, encodeSegments } from '../../web/escape.ts';
import type { FoundFile } from '../sources/walk-folder.ts';

export interface Page {
  readonly source: FoundFile;
  readonly path: string;
  /** Its Markdown: `guides/start.md`. */
  readonly markdownPath: string;
  /** `guides/start`, `guides/` for a folder's page, empty for the home page. */
  readonly address: string;
  readonly language: string;
  readonly key: string;
  readonly title: string;
  readonly sidebarTitle: string;
  readonly description: string | null;
  readonly tags: readonly string[];
  readonly version: string | null;
  readonly order: number | null;
  /** True if the exported version is the first that has it. */
  readonly isNew: boolean;
  readonly isHidden: boolean;
  /** Not for search engines, the sitemap and `llms.txt`. */
  readonly isNoindex: boolean;
}

const PAGE_SOURCE = /\.(?:md|markdown)$/i;
const README = /(^|\/)readme$/i;

export function isPageSource(path: string): boolean {
  return PAGE_SOURCE.test(path);
}

/** A `README` is its folder's index page, unless the folder has one. @param hasPage whether a source has that stem */
export function stemOf(path: string, hasPage: (stem: string) => boolean): string {
  const stem = path.replace(PAGE_SOURCE, '');
  const index = stem.replace(README, '$1index');
  return index !== stem && hasPage(index) ? stem : index;
}

export function addressOfStem(stem: string): string {
  return stem.replace(/(^|\/)index$/, '$1');
}

export function isNotFoundStem(stem: string): boolean {
  return /(?:^|\/)404$/.test(stem);
}

export function namesOfPage({ path, markdownPath, address }: Page): readonly string[] {
  return [path, markdownPath, address, address.replace(/\/$/, ''), path.replace(/\.html$/, '')];
}

/** The path that a URL's path says, or the same text if its escapes are broken. */
function decodePath(path: string): string {
  return decodeOrKeep(path).normalize('NFC');
}

/** The reference from one file of the site to another: it holds on any host, below any path, and in a folder on disk. */
export function relativeReference(from: string, to: string): string {
  return encodeSegments(posix.relative(posix.dirname(from), to)) || encodeSegments(posix.basename(to));
}

/** `01-install`, `2. Install`, `03_install`; a rest that begins with a digit makes it a date or a version. */
const NUMBERED = /^(\d{1,4})(?:[-_. ]+)(?=\D)/;
const EXTENSION = /\.(?:md|markdown|html)$/i;

/** The place that a file's or folder's name gives it by the number before it; unnumbered ones come last. */
export function orderOfName(name: string): number {
  const number = NUMBERED.exec(name)?.[1];
  return number === undefined ? Number.POSITIVE_INFINITY : Number(number);
}

/** The title of a file or folder that has none: `01-quick-start.md` -> `Quick start`. */
export function titleOfName(name: string): string {
  const stem = name.replace(EXTENSION, '');
  const words = stem.replace(NUMBERED, '').replace(/[-_]+/g, ' ').trim() || stem;
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A reference's target. `excluded`: a page that this export leaves out; `elsewhere`: another site, or a place on the page itself. */
type MarkdownTarget =
  | { readonly kind: 'file'; readonly path: string; readonly suffix: string }
  | { readonly kind: 'excluded' | 'missing' | 'elsewhere' };

const ELSEWHERE = /^(?:$|[#?]|\/\/|[a-z][a-z0-9+.-]*:)/i;
const PARTS = /^([^?#]*)(.*)$/s;

export class MarkdownTargets {
  readonly #pages = new Map<string, Page>();
  readonly #excluded: ReadonlySet<string>;
  readonly #files: ReadonlySet<string>;

  /** @param excluded names of pages that this export leaves out. @param files paths of the files that are copied */
  constructor(pages: readonly Page[], excluded: ReadonlySet<string>, files: ReadonlySet<string>) {
    this.#excluded = excluded;
    this.#files = files;
    // A file's own name goes before other names of another page.
    for (const page of pages) this.#pages.set(page.source.path, page);
    for (const page of pages) {
      for (const name of namesOfPage(page)) if (!this.#pages.has(name)) this.#pages.set(name, page);
    }
  }

  /** The page that `docs.json` or a request names: `guides/start`, `/guides/start.html`, `guides/start.md`, `/`. */
  page(name: string): Page | 'excluded' | null {
    const path = posix.normalize(decodePath(name.replace(/[?#].*$/s, '')).replace(/^\/+/, '') || '.');
    const key = path === '.' ? '' : path;
    return this.#pages.get(key) ?? (this.#excluded.has(key) ? 'excluded' : null);
  }

  /** @param from path of the source that refers. @param href as written, entities decoded */
  resolve(from: string, href: string): MarkdownTarget {
    if (ELSEWHERE.test(href)) return { kind: 'elsewhere' };
    const [, written = '', suffix = ''] = PARTS.exec(href) ?? [];
    const path = posix.join(written.startsWith('/') ? '.' : posix.dirname(from), decodePath(written));
    const name = path.replace(/^\.\/|^\/+|^\.$/, '');
    const page = this.#pages.get(name) ?? this.#pages.get(name.replace(/\/$/, ''));
    if (page !== undefined) return { kind: 'file', path: page.path, suffix };
    if (this.#files.has(name)) return { kind: 'file', path: name, suffix };
    return { kind: this.#excluded.has(name) ? 'excluded' : 'missing' };
  }
}
