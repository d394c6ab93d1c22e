import { isAssetPath, mediaTypeOf as mediaTypeOfPath } from '../web/index.ts';
import { type FoundKind, type SourceType, sourceTypeOf } from '../web/rewrite/index.ts';

/** How an address became known. `known_file`: many sites have such a file; `not_found`: an address that no site has. */
export type AskedAs = FoundKind | 'browser' | 'known_file' | 'sitemap' | 'llms' | 'not_found';

/** Place of a file's references. Length 0: in the memory of the thread; else in the thread's file. */
export interface FoundPlace {
  readonly thread: number;
  readonly offset: number;
  readonly length: number;
}

export interface Entry {
  /** Canonical. */
  readonly url: string;
  askedAs: AskedAs;
  /** Address of the page that names it first; may be empty. */
  readonly referrer: string;
  readonly depth: number;
  /** Number of redirects that led to this address. */
  readonly redirects: number;
  readonly isOptional: boolean;
  /** Headers of the page's request, names in lower case. */
  readonly headers: Readonly<Record<string, string>> | null;
  state: 'waiting' | 'asked' | 'done';
  isFollowed: boolean;
  fetched: FetchedUrl | null;
  /** The server responded with a page to a request for a file; the page is not stored. */
  isPageInstead: boolean;
  /** The page as the browser shows it, if that is exported. */
  settled: FetchedContent | null;
  /** Media type of the exported content; empty if unknown. */
  type: string;
  /** Null if it has no references. */
  place: FoundPlace | null;
}

export interface ContentEntry extends Entry {
  readonly fetched: FetchedUrl & { readonly content: NonNullable<FetchedUrl['content']> };
}

export function hasContent(entry: Entry): entry is ContentEntry {
  return entry.fetched?.status === 200 && entry.fetched.content !== null;
}

export function contentOf({ settled, fetched }: ContentEntry): FetchedContent {
  return settled ?? fetched.content;
}

/** A fetched address, as the journal and the record of a crawl store it. */
export interface FetchedUrl {
  /** Canonical. */
  readonly url: string;
  /** 200 if content is stored. */
  readonly status: number;
  /** Absolute, with its fragment. */
  readonly location: string | null;
  readonly contentType: string;
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly noFollow: boolean;
  /** Decoded body. Null if none is stored. */
  readonly content: FetchedContent | null;
}

export interface PackedAt {
  readonly pack: string;
  readonly offset: number;
}

export interface FetchedContent {
  readonly sha256: string;
  readonly size: number;
  /** Null if the content is in the file store. */
  readonly packed: PackedAt | null;
}

export function mediaTypeOf({ contentType }: Pick<FetchedUrl, 'contentType'>): string {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Files that are looked for without a reference: their absence is no finding. */
const OWN_FILES: ReadonlySet<AskedAs> = new Set(['known_file', 'sitemap', 'llms']);

const GENERIC: ReadonlySet<string> = new Set(['', 'application/octet-stream', 'binary/octet-stream', 'text/plain']);
const PAGE_TYPES: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml']);
const TYPE_BY_KIND: Partial<Record<AskedAs, string>> = {
  script: 'text/javascript',
  module: 'text/javascript',
  worker: 'text/javascript',
  style: 'text/css',
  manifest: 'application/manifest+json',
};

export function namesPage(askedAs: AskedAs): boolean {
  return askedAs === 'link' || askedAs === 'frame';
}

export function isPageType(type: string): boolean {
  return PAGE_TYPES.has(type);
}

export function typeOfAnswer(fetched: FetchedUrl, askedAs: AskedAs): string {
  const type = mediaTypeOf(fetched);
  if (!GENERIC.has(type)) return type;
  const { pathname } = new URL(fetched.url);
  const expected = TYPE_BY_KIND[askedAs];
  if (expected !== undefined && !pathname.endsWith('.json')) return expected;
  if (type !== '') return type;
  const [byName = ''] = mediaTypeOfPath(pathname).split(';');
  if (byName !== 'application/octet-stream') return byName;
  return namesPage(askedAs) ? 'text/html' : '';
}

export function sourceTypeOfAnswer(type: string, askedAs: AskedAs): SourceType | null {
  return askedAs === 'manifest' && /json$/.test(type) ? 'manifest' : sourceTypeOf(type);
}

/** Some servers respond with a page if a script or picture is missing. */
export function isPageInPlaceOfFile(url: URL, type: string, askedAs: AskedAs): boolean {
  if (!isPageType(type) || namesPage(askedAs) || askedAs === 'not_found') return false;
  return TYPE_BY_KIND[askedAs] !== undefined || isAssetPath(url.pathname) || OWN_FILES.has(askedAs);
}
