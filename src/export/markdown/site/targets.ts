import { posix } from 'node:path';
import { decodePath } from './address.ts';
import type { Page } from './page.ts';

/** A reference's target. `excluded`: a page that this export leaves out; `elsewhere`: another site, or a place on the page itself. */
type MarkdownTarget =
  | { readonly kind: 'file'; readonly path: string; readonly suffix: string }
  | { readonly kind: 'excluded' | 'missing' | 'elsewhere' };

const ELSEWHERE = /^(?:$|[#?]|\/\/|[a-z][a-z0-9+.-]*:)/i;
const PARTS = /^([^?#]*)(.*)$/s;

export function namesOfPage({ path, twin, address }: Page): readonly string[] {
  return [path, twin, address, address.replace(/\/$/, ''), path.replace(/\.html$/, '')];
}

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
