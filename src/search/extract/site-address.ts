import { decodeOrKeep } from '../../web/percent-decode.ts';

/** The site's own host, which a bundle does not name. */
export const OWN_ORIGIN = 'http://site.invalid';

const LINKS_MAX = 2_000;

export class PageAddress {
  readonly #from: URL | null;
  readonly #own: string;
  readonly #publishedOrigin: string | null;
  readonly #links = new Set<string>();
  /** Path of the canonical address as published, perhaps under a prefix; null: none. */
  readonly canonical: string | null;

  /** @param url as readers see it: `/guides/start`. @param base the page's `<base href>`. */
  constructor(url: string, base: string | null, canonical: string | null) {
    const own = URL.parse(url, OWN_ORIGIN);
    this.#own = own === null ? url : decodeOrKeep(own.pathname);
    this.#from = base === null ? own : URL.parse(base, own?.href ?? OWN_ORIGIN);
    const target = canonical === null ? null : URL.parse(canonical, own?.href ?? OWN_ORIGIN);
    this.#publishedOrigin = target?.origin ?? null;
    this.canonical = target === null ? null : decodeOrKeep(target.pathname);
  }

  /** Paths on the site that the page links to, itself aside, each once, without query and fragment. */
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

/** A path with its fragment, in which only what a URL cannot hold is encoded: readers see their own letters. */
export function withFragment(page: string, fragment: string | null): string {
  return fragment === null ? page : `${page}#${encodeUnsafe(fragment)}`;
}

/** Percent-encodes what would end or break an address (URL standard, fragment percent-encode set, and `#`, `%`, `\\`). */
export function encodeUnsafe(text: string): string {
  return text.replace(
    /[\u0000-\u0020"#<>`%\\\u007f]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}
