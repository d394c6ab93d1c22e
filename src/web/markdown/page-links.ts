/** The site's own host, which a bundle does not name. */
const OWN_ORIGIN = 'http://site.invalid';
const LINKED = new Set(['http:', 'https:', 'mailto:', 'tel:', 'ftp:']);

/** Addresses of a page: its own site's from the root, others as they are. */
export class PageLinks {
  readonly #from: URL | null;
  readonly #publishedOrigin: string | null;

  /** @param address path of the page from the host's root, percent-encoded @param canonical names the origin that the site was published at */
  constructor(address: string, base: string | null, canonical: string | null) {
    const published = canonical === null ? null : URL.parse(canonical, OWN_ORIGIN);
    const own = URL.parse(asPublished(address, published), OWN_ORIGIN);
    this.#from = base === null ? own : (URL.parse(base, own?.href) ?? own);
    this.#publishedOrigin = published?.origin ?? null;
  }

  /** Null for what leads nowhere: scripts, data. */
  resolve(address: string): string | null {
    const url = URL.parse(address.trim(), this.#from?.href);
    if (url === null || !LINKED.has(url.protocol)) return null;
    if (url.origin !== OWN_ORIGIN && (url.origin !== this.#publishedOrigin || url.origin === 'null')) return url.href;
    return url.pathname + url.search + url.hash;
  }
}

/** Without an extension, where the page's canonical address has none. */
function asPublished(address: string, published: URL | null): string {
  const stem = address.replace(/\.x?html?$/i, '');
  const name = stem.slice(stem.lastIndexOf('/'));
  return published?.pathname.endsWith(name) === true && name !== '/' ? stem : address;
}
