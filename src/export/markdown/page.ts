import { posix } from 'node:path';
import { decodeOrKeep, encodeSegments } from '../../web/escape.ts';
import type { FoundFile } from '../sources/walk-folder.ts';

export interface Page {
  readonly source: FoundFile;
  readonly path: string;
  readonly markdownPath: string;
  readonly address: string;
  readonly language: string;
  readonly key: string;
  readonly title: string;
  readonly sidebarTitle: string;
  readonly description: string | null;
  readonly tags: readonly string[];
  readonly version: string | null;
  readonly order: number | null;
  readonly isNew: boolean;
  readonly isHidden: boolean;
  readonly isNoindex: boolean;
}

const PAGE_SOURCE = /\.(?:md|markdown)$/i;
const README = /(^|\/)readme$/i;

export const isPageSource = (path: string): boolean => PAGE_SOURCE.test(path);

/** A `README` is the index page of its folder, unless the folder has another index page. */
export function stemOf(path: string, hasPage: (stem: string) => boolean): string {
  const stem = path.replace(PAGE_SOURCE, '');
  const index = stem.replace(README, '$1index');
  return index !== stem && hasPage(index) ? stem : index;
}

export const addressOfStem = (stem: string): string => stem.replace(/(^|\/)index$/, '$1');

export const isNotFoundStem = (stem: string): boolean => /(?:^|\/)404$/.test(stem);

export const namesOfPage = ({ path, markdownPath, address }: Page): readonly string[] => [
  path,
  markdownPath,
  address,
  address.replace(/\/$/, ''),
  path.replace(/\.html$/, ''),
];

const decodePath = (path: string): string => decodeOrKeep(path).normalize('NFC');

/** Relative reference from one page to another. It works on every host, under every base path, and for files on disk. */
export const relativeReference = (from: string, to: string): string =>
  encodeSegments(posix.relative(posix.dirname(from), to)) || encodeSegments(posix.basename(to));

/** Matches numbered names, such as `01-install`, `2. Install`, `03_install`, but not a date or a version. */
const NUMBERED = /^(\d{1,4})(?:[-_. ]+)(?=\D)/;
const EXTENSION = /\.(?:md|markdown|html)$/i;

export function orderOfName(name: string): number {
  const number = NUMBERED.exec(name)?.[1];
  return number === undefined ? Number.POSITIVE_INFINITY : Number(number);
}

export function titleOfName(name: string): string {
  const stem = name.replace(EXTENSION, '');
  const words = stem.replace(NUMBERED, '').replace(/[-_]+/g, ' ').trim() || stem;
  return words.charAt(0).toUpperCase() + words.slice(1);
}

type MarkdownTarget =
  | { readonly kind: 'file'; readonly path: string; readonly suffix: string }
  | { readonly kind: 'excluded' | 'missing' | 'elsewhere' };

const ELSEWHERE = /^(?:$|[#?]|\/\/|[a-z][a-z0-9+.-]*:)/i;
const PARTS = /^([^?#]*)(.*)$/s;

export class MarkdownTargets {
  readonly #pages = new Map<string, Page>();
  readonly #excluded: ReadonlySet<string>;
  readonly #files: ReadonlySet<string>;

  constructor(pages: readonly Page[], excluded: ReadonlySet<string>, files: ReadonlySet<string>) {
    this.#excluded = excluded;
    this.#files = files;
    for (const page of pages) this.#pages.set(page.source.path, page);
    for (const page of pages) {
      for (const name of namesOfPage(page)) if (!this.#pages.has(name)) this.#pages.set(name, page);
    }
  }

  /** Finds a page by a name such as `guides/start`, `/guides/start.html`, `guides/start.md` or `/`. */
  page(name: string): Page | 'excluded' | null {
    const path = posix.normalize(decodePath(name.replace(/[?#].*$/s, '')).replace(/^\/+/, '') || '.');
    const key = path === '.' ? '' : path;
    return this.#pages.get(key) ?? (this.#excluded.has(key) ? 'excluded' : null);
  }

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
