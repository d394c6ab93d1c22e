import { lookup } from 'mime-types';
import { htmlCharset } from './charset.ts';

/** Extensions that the registry lacks, or knows as what documentation never means: to it `.ts` is video. */
const OWN_TYPES: ReadonlyMap<string, string> = new Map([
  ...['ts', 'mts', 'cts', 'tsx', 'rst', 'adoc', 'vue', 'svelte', 'astro'].map((ext) => [ext, 'text/plain'] as const),
  ['cjs', 'text/javascript'],
]);

const UNKNOWN = 'application/octet-stream';

const TEXT =
  /^(?:text\/|application\/(?:json|xml|javascript|ecmascript|manifest\+json|toml|yaml|x-sh|sql|[\w.-]+\+(?:json|xml))$|image\/svg\+xml$)/;

export function extensionOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? '' : name.slice(dot + 1).toLowerCase();
}

function knownTypeOf(path: string): string | null {
  const extension = extensionOf(path);
  if (extension === '') return null;
  return OWN_TYPES.get(extension) ?? (lookup(extension) || null);
}

export function isTextType(type: string): boolean {
  const end = type.indexOf(';');
  return TEXT.test(end === -1 ? type : type.slice(0, end).trimEnd());
}

export function mediaTypeOf(path: string, charset = 'utf-8'): string {
  const type = knownTypeOf(path) ?? UNKNOWN;
  return isTextType(type) ? `${type}; charset=${charset}` : type;
}

const MARKUP = new Set(['html', 'htm', 'xhtml', 'xml', 'svg', 'rss', 'atom']);

export function namesItsCharset(path: string): boolean {
  return MARKUP.has(extensionOf(path));
}

export function mediaTypeOfFile(path: string, head: Uint8Array): string {
  const charset = namesItsCharset(path) ? htmlCharset(head) : null;
  return mediaTypeOf(path, charset ?? 'utf-8');
}

/** True where the extension is known and not a page's: a missing asset gets no HTML. `docs/v1.2` is page-like. */
export function isAssetPath(path: string): boolean {
  const type = knownTypeOf(path);
  return type !== null && type !== 'text/html' && type !== 'application/xhtml+xml';
}
