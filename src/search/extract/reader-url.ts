import type { TrailingSlash } from '../../domain/release.ts';
import { decodeOrKeep } from '../../web/escape.ts';
import { findLinks } from '../../web/references.ts';
import { resolvePath } from '../../web/resolve.ts';

export interface ReaderForm {
  readonly trailingSlash: TrailingSlash;
  readonly extension: 'keep' | 'drop';
}

type FileTable = Parameters<typeof resolvePath>[0];

const EXTENSION = /\.(?:html|htm|xhtml)$/i;
const INDEX = /(?:^|\/)index\.(?:html|htm|xhtml)$/i;

/** Weight of a page's canonical URL to decide whether addresses keep their file extension. A link has weight 1. */
const CANONICAL_WEIGHT = 20;

const OWN_ORIGIN = 'http://site.invalid';

export function readerUrl(path: string, form: ReaderForm, files: FileTable): string {
  const stem = path.replace(INDEX, '');
  const folder = form.trailingSlash === 'always' && stem !== '' ? `${stem}/` : stem;
  const file = form.extension === 'drop' ? path.replace(EXTENSION, '') : path;
  const preferred = stem === path ? file : folder;
  const resolution = resolvePath(files, preferred, form.trailingSlash);
  const leadsHere = resolution.kind === 'file' && resolution.path === path;
  return `/${encodeUnsafe(leadsHere ? preferred : path)
    .replaceAll('?', '%3F')
    .replaceAll('#', '%23')}`;
}

export class PageForms {
  readonly #files: FileTable;
  #kept = 0;
  #dropped = 0;

  constructor(files: FileTable) {
    this.#files = files;
  }

  addPage(path: string, html: string): void {
    for (const { kind, url } of findLinks(html).references) {
      const target = URL.parse(url, `${OWN_ORIGIN}/${path}`);
      if (target === null) continue;
      if (kind === 'canonical') this.#count(target, CANONICAL_WEIGHT, INDEX.test(path) ? null : path);
      else if (kind === 'link' && target.origin === OWN_ORIGIN) this.#count(target, 1, null);
    }
  }

  extension(): ReaderForm['extension'] {
    return this.#dropped > this.#kept ? 'drop' : 'keep';
  }

  #count(address: URL, weight: number, page: string | null): void {
    const { pathname } = address;
    if (EXTENSION.test(pathname)) {
      if (page !== null || !INDEX.test(pathname)) this.#kept += weight;
    } else if (page !== null) {
      if (!pathname.endsWith('/')) this.#dropped += weight;
    } else if (!pathname.endsWith('/') && this.#files.has(`${decodeOrKeep(pathname).slice(1)}.html`))
      this.#dropped += weight;
  }
}

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

/** Encodes only characters that are invalid in a URL, so that letters of all languages stay readable. */
export function withFragment(page: string, fragment: string | null): string {
  return fragment === null ? page : `${page}#${encodeUnsafe(fragment)}`;
}

/** Encodes the URL standard's fragment percent-encode set, and `#`, `%`, `\`. */
export function encodeUnsafe(text: string): string {
  return text.replace(
    /[\u0000-\u0020"#<>`%\\\u007f]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}
