import type { StoredFile } from '../files/file-store.ts';
import { isAssetPath, shownTypeOf } from '../web/media-type.ts';
import type { FoundKind } from '../web/rewrite/reference.ts';
import { type SourceType, sourceTypeOf } from '../web/rewrite/source-text.ts';

export type AskedAs = FoundKind | 'browser' | 'known_file' | 'sitemap' | 'llms' | 'not_found';

export interface Entry {
  readonly url: string;
  askedAs: AskedAs;
  readonly referrer: string;
  readonly depth: number;
  readonly redirects: number;
  readonly isOptional: boolean;
  readonly headers: Readonly<Record<string, string>> | null;
  state: 'waiting' | 'asked' | 'done';
  isFollowed: boolean;
  fetched: FetchedUrl | null;
  /** True if the server returned an HTML page instead of a file such as a script. The page is not stored. */
  isPageInstead: boolean;
  settled: StoredFile | null;
  type: string;
  /** Syntax in which docshelf searches the file for references. Null for other files, such as pictures. */
  source: SourceType | null;
}

export interface ContentEntry extends Entry {
  readonly fetched: FetchedUrl & { readonly content: NonNullable<FetchedUrl['content']> };
}

export const hasContent = (entry: Entry): entry is ContentEntry =>
  entry.fetched?.status === 200 && entry.fetched.content !== null;

export const contentOf = ({ settled, fetched }: ContentEntry): StoredFile => settled ?? fetched.content;

export interface FetchedUrl {
  readonly url: string;
  readonly status: number;
  readonly location: string | null;
  readonly contentType: string;
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly noFollow: boolean;
  readonly content: StoredFile | null;
}

export const mediaTypeOf = ({ contentType }: Pick<FetchedUrl, 'contentType'>): string =>
  contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';

/** Kinds of files that docshelf requests at their usual addresses, such as `/robots.txt`. An HTML page is not a valid response. */
const OWN_FILES: ReadonlySet<AskedAs> = new Set(['known_file', 'sitemap', 'llms']);

/** Media types that servers send for files of unknown type. */
export const GENERIC_TYPES: ReadonlySet<string> = new Set([
  '',
  'application/octet-stream',
  'binary/octet-stream',
  'text/plain',
]);
const PAGE_TYPES: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml']);
const TYPE_BY_KIND: Partial<Record<AskedAs, string>> = {
  script: 'text/javascript',
  module: 'text/javascript',
  worker: 'text/javascript',
  style: 'text/css',
  manifest: 'application/manifest+json',
};

export const namesPage = (askedAs: AskedAs): boolean => askedAs === 'link' || askedAs === 'frame';

export const isMissing = (status: number): boolean => status === 404 || status === 410;

export const isPageType = (type: string): boolean => PAGE_TYPES.has(type);

export function typeOfAnswer(fetched: FetchedUrl, askedAs: AskedAs): string {
  const type = mediaTypeOf(fetched);
  if (!GENERIC_TYPES.has(type)) return type;
  const { pathname } = new URL(fetched.url);
  const expected = TYPE_BY_KIND[askedAs];
  if (expected !== undefined && !pathname.endsWith('.json')) return expected;
  if (type !== '') return type;
  const byName = shownTypeOf(pathname);
  if (byName !== 'application/octet-stream') return byName;
  return namesPage(askedAs) ? 'text/html' : '';
}

export const sourceTypeOfAnswer = (type: string, askedAs: AskedAs): SourceType | null =>
  askedAs === 'manifest' && /json$/.test(type) ? 'manifest' : sourceTypeOf(type);

/** Detects a page that some servers return instead of a missing script or picture. */
export function isPageInPlaceOfFile(url: URL, type: string, askedAs: AskedAs): boolean {
  if (!isPageType(type) || namesPage(askedAs) || askedAs === 'not_found') return false;
  return TYPE_BY_KIND[askedAs] !== undefined || isAssetPath(url.pathname) || OWN_FILES.has(askedAs);
}
