import type { TrailingSlash } from '../domain/release.ts';
import { encodeAddress, OWN_ORIGIN, percentDecode } from './escape.ts';
import { isServedPath } from './mount/base-path.ts';
import { findLinks, type PageReferences } from './references.ts';

/**
 * Weight of a relative reference that works only at `/x/` or only at `/x`, to choose between these addresses. A link to `/x/` or
 * `/x` has weight 1.
 */
const BROKEN_WEIGHT = 10;

const ELSEWHERE = /^(?:#|(?!https?:)[a-z][a-z0-9+.-]*:)/i;
const ABSOLUTE = /^(?:https?:|\/)/i;

const FOLDER_PAGE = /(?:^|\/)index\.x?html?$/i;

/** Matches the 404 page. Its relative references show nothing about trailing slashes, because it is served at any address. */
const NOT_FOUND_PAGE = /(?:^|\/)404(?:\/index)?\.html$/i;

const decodedPath = ({ pathname }: URL): string | null => percentDecode(pathname)?.slice(1) ?? null;

/**
 * Finds out whether a site's addresses of `x/index.html` are `/x/` or `/x`. Counts links and canonical URLs, and relative
 * references that work at only one of both.
 */
export class TrailingSlashVotes {
  readonly #files: { has(path: string): boolean };
  readonly #basePath: string;
  #withSlash = 0;
  #withoutSlash = 0;
  #relative = 0;
  #absolute = 0;

  constructor(files: { has(path: string): boolean }, basePath = '/') {
    this.#files = files;
    this.#basePath = basePath;
  }

  addPage(path: string, html: string): void {
    this.addReferences(path, findLinks(html));
  }

  addReferences(path: string, { base, references }: PageReferences): void {
    const canonical = references.find(({ kind }) => kind === 'canonical');
    const canonicalUrl = canonical === undefined ? null : URL.parse(canonical.url, OWN_ORIGIN);
    if (canonicalUrl !== null) this.#countCanonical(path, canonicalUrl);

    const page = new PageAddresses(path, base, canonicalUrl?.origin ?? null, this.#basePath);
    for (const { kind, url } of references) {
      if (kind === 'canonical' || ELSEWHERE.test(url)) continue;
      if (base === null && !ABSOLUTE.test(url)) {
        this.#relative++;
        this.#countRelative(page, kind === 'link', url);
      } else {
        const target = page.resolve(url, true);
        if (target === null) continue;
        this.#absolute++;
        if (kind === 'link') this.#countTarget(target);
      }
    }
  }

  /** Returns `always` or `never`, by weight. For equal weights, `always` if the site has more relative than absolute references. */
  decide(): TrailingSlash {
    if (this.#withSlash !== this.#withoutSlash) return this.#withSlash > this.#withoutSlash ? 'always' : 'never';
    return this.#relative > this.#absolute ? 'always' : 'never';
  }

  #countCanonical(path: string, canonical: URL): void {
    const folder = path.replace(FOLDER_PAGE, '');
    const address = decodedPath(canonical);
    if (folder === path || folder === '' || address === null) return;
    if (`/${address}`.endsWith(`/${folder}/`)) this.#withSlash++;
    else if (`/${address}`.endsWith(`/${folder}`)) this.#withoutSlash++;
  }

  #countRelative(page: PageAddresses, isLink: boolean, url: string): void {
    const bySlash = page.resolve(url, true);
    if (bySlash === null) return;
    if (!page.isFolderPage) {
      if (isLink) this.#countTarget(bySlash);
      return;
    }
    const byNone = page.resolve(url, false);
    const slashLeads = isServedPath(this.#files, bySlash);
    const noneLeads = byNone !== null && isServedPath(this.#files, byNone);
    if (slashLeads && !noneLeads) this.#withSlash += BROKEN_WEIGHT;
    if (noneLeads && !slashLeads) this.#withoutSlash += BROKEN_WEIGHT;
    if (isLink) this.#countTarget(slashLeads || byNone === null ? bySlash : byNone);
  }

  #countTarget(target: string): void {
    if (target.endsWith('/')) {
      if (this.#files.has(`${target}index.html`)) this.#withSlash++;
    } else if (target !== '' && this.#files.has(`${target}/index.html`)) {
      if (!this.#files.has(target) && !this.#files.has(`${target}.html`)) this.#withoutSlash++;
    }
  }
}

class PageAddresses {
  /** True for an index page in a folder, except in the root folder and in folders named `404`. */
  readonly isFolderPage: boolean;
  readonly #withSlash: string | undefined;
  readonly #withoutSlash: string | undefined;
  readonly #publishedOrigin: string | null;
  readonly #basePath: string;

  constructor(path: string, base: string | null, publishedOrigin: string | null, basePath: string) {
    const folder = path.replace(FOLDER_PAGE, '');
    this.isFolderPage = folder !== path && folder !== '' && !NOT_FOUND_PAGE.test(path);
    this.#publishedOrigin = publishedOrigin;
    this.#basePath = basePath;
    const address = `${OWN_ORIGIN}${basePath}${encodeAddress(folder)}`;
    const from = (own: string): string | undefined => (base === null ? own : URL.parse(base, own)?.href);
    this.#withSlash = from(folder === path || folder === '' ? address : `${address}/`);
    this.#withoutSlash = from(address);
  }

  resolve(url: string, withSlash: boolean): string | null {
    const target = URL.parse(url, withSlash ? this.#withSlash : this.#withoutSlash);
    if (target === null || (target.origin !== OWN_ORIGIN && target.origin !== this.#publishedOrigin)) return null;
    const path = decodedPath(target);
    if (path === null || this.#basePath === '/') return path;
    return `/${path}`.startsWith(this.#basePath) ? path.slice(this.#basePath.length - 1) : null;
  }
}
