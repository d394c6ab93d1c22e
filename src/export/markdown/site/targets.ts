import { posix } from 'node:path';
import { decodePath } from './address.ts';
import type { Page } from './page.ts';

/** The target of a page's reference. */
export type MarkdownTarget =
  | { readonly kind: 'page'; readonly page: Page; readonly suffix: string }
  | { readonly kind: 'file'; readonly path: string; readonly suffix: string }
  /** A page that this export leaves out. */
  | { readonly kind: 'excluded' }
  | { readonly kind: 'missing' }
  /** Another site, or a place on the page itself. */
  | { readonly kind: 'elsewhere' };

const ELSEWHERE = /^(?:$|[#?]|\/\/|[a-z][a-z0-9+.-]*:)/i;
/** Path, then query and fragment. */
const PARTS = /^([^?#]*)(.*)$/s;

/** A page's names besides its source path: its HTML file, and its address as readers write it. */
export function namesOfPage(page: Pick<Page, 'path' | 'twin' | 'address'>): readonly string[] {
  const index = page.path.replace(/\.html$/, '');
  return [page.path, page.twin, page.address, page.address.replace(/\/$/, ''), index];
}

/** Finds pages and files by the names that people write. */
export class MarkdownTargets {
  readonly #pages = new Map<string, Page>();
  readonly #excluded: ReadonlySet<string>;
  readonly #files: ReadonlySet<string>;

  /**
   * @param excluded names of pages that this export leaves out
   * @param files paths of the files that are copied
   */
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
    if (page !== undefined) return { kind: 'page', page, suffix };
    if (this.#files.has(name)) return { kind: 'file', path: name, suffix };
    return { kind: this.#excluded.has(name) ? 'excluded' : 'missing' };
  }
}
