import { isAssetPath, mediaTypeOf as mediaTypeOfPath } from '../../web/index.ts';
import { type FoundKind, type SourceType, sourceTypeOf } from '../../web/rewrite/index.ts';
import { type FetchedUrl, mediaTypeOf } from './fetched-url.ts';

/** `known_file`: one that sites have; `not_found`: an address that cannot be. */
export type AskedAs = FoundKind | 'browser' | 'known_file' | 'sitemap' | 'llms' | 'not_found';

/** Nobody misses these. */
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

/** Some servers answer so where a script or picture is missing. */
export function isPageInPlaceOfFile(url: URL, type: string, askedAs: AskedAs): boolean {
  if (!isPageType(type) || namesPage(askedAs) || askedAs === 'not_found') return false;
  return TYPE_BY_KIND[askedAs] !== undefined || isAssetPath(url.pathname) || OWN_FILES.has(askedAs);
}
