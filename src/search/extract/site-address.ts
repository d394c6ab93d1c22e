import { decodeOrKeep } from '../../web/escape.ts';

/** The site's own host, which a bundle does not name. */
export const OWN_ORIGIN = 'http://site.invalid';

const LINKS_MAX = 2_000;

export class PageAddress {
  readonly #from: URL | null;
  readonly #own: string;
  readonly #publishedOrigin: string | null;
  readonly #links = new Set<string>();
  readonly canonical: string | null;

  constructor(url: string, base: string | null, canonical: string | null) {
    const own = URL.parse(url, OWN_ORIGIN);
    this.#own = own === null ? url : decodeOrKeep(own.pathname);
    this.#from = base === null ? own : URL.parse(base, own?.href ?? OWN_ORIGIN);
    const target = canonical === null ? null : URL.parse(canonical, own?.href ?? OWN_ORIGIN);
    this.#publishedOrigin = target?.origin ?? null;
    this.canonical = target === null ? null : decodeOrKeep(target.pathname);
  }

  /** Paths of other pages of the site, each once, without query and fragment. */
  get links(): readonly string[] {
    return [...this.#links];
  }

  addLink(href: string): void {
    if (href.startsWith('#') || this.#from === null || this.#links.size >= LINKS_MAX) return;
    const target = URL.parse(href, this.#from.href);
    if (target === null || (target.origin !== OWN_ORIGIN && target.origin !== this.#publishedOrigin)) return;
    const path = decodeOrKeep(target.pathname);
    if (path !== this.#own) this.#links.add(path);
  }
}

/** Only what a URL cannot hold is encoded: readers see their own letters. */
export function withFragment(page: string, fragment: string | null): string {
  return fragment === null ? page : `${page}#${encodeUnsafe(fragment)}`;
}

/** URL standard, fragment percent-encode set, and `#`, `%`, `\\`. */
export function encodeUnsafe(text: string): string {
  return text.replace(
    /[\u0000-\u0020"#<>`%\\\u007f]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}
