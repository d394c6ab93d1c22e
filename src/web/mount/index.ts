import { charsetOfType } from '../media-type.ts';
import { findReferences, type ReferringFile } from '../rewrite/find-references.ts';
import { type SourceType, unitsOf, utf8Bytes } from '../rewrite/source-text.ts';
import { type Edit, spliceBytes, writtenUrl } from '../rewrite/write.ts';
import { isMountable, kindOf, MOUNT_BYTES_MAX, type Mount, type MountableFile } from './base-path.ts';
import { leadsIntoSite, type MountedSite, rebaseAt, withoutOverlaps } from './edits.ts';
import { editsOfGenerators, inlineScripts, isCovered } from './generators.ts';

/** Digests in the `integrity` attributes of a page, each with the address of the file to which the digest belongs. */
export function integrityTargets(file: MountableFile): { readonly url: string; readonly digest: string }[] {
  const kind = kindOf(file.path, file.type);
  if (kind !== 'html' && kind !== 'xml') return [];
  const source = referring(file, kind);
  const units = unitsOf(source.bytes);
  if (!/integrity/i.test(units)) return [];
  return findReferences(source, units).references.flatMap(({ kind: each, url, start, end }) =>
    each === 'integrity' ? [{ url, digest: units.slice(start, end) }] : [],
  );
}

/**
 * Rewrites a file for another base path. Keeps relative references, and in a UTF-8 file all bytes except addresses. Returns
 * `file.bytes` if nothing changes.
 * @param digestOf function that returns the new `integrity` of the file at `url`, or null if unchanged
 */
export function mountFile(
  file: MountableFile,
  site: MountedSite,
  digestOf: (url: string) => string | null = () => null,
): Uint8Array {
  const kind = kindOf(file.path, file.type);
  if (kind === null || site.from === site.to) return file.bytes;
  const isData = kind === 'payload' || kind === 'data';
  const source = referring(file, isData ? 'script' : kind);
  const units = unitsOf(source.bytes);
  const edits = editsOfGenerators(kind, { text: units, site });
  // In a URL pattern, the `+` of a version label must be escaped by a backslash, which a string literal must contain twice.
  const patterned = { from: site.from, to: site.to.replaceAll('+', String.raw`\\+`) };
  if (!isData) {
    for (const { kind: each, url, start, end, writing } of findReferences(source, units).references) {
      if (each === 'mention') continue;
      const edit =
        each === 'integrity'
          ? digestEdit(start, end, digestOf(url), writing)
          : rebaseAt(units, start, end, url, writing, each === 'pattern' ? patterned : site);
      if (edit !== null) edits.push(edit);
    }
    // Push in a loop, because a sitemap can have more links than one call accepts as arguments.
    if (kind === 'feed') for (const edit of editsOfFeed(units, site)) edits.push(edit);
  }
  const made = withoutOverlaps(edits);
  return made.length === 0 ? file.bytes : spliceBytes(source.bytes, made);
}

const digestEdit = (start: number, end: number, digest: string | null, writing: number): Edit | null =>
  digest === null ? null : { start, end, text: writtenUrl(digest, writing) };

function referring({ path, bytes, type: mediaType }: MountableFile, type: SourceType): ReferringFile {
  return { type, bytes: utf8Bytes(bytes, type, charsetOfType(mediaType)), path: `/${path}` };
}

const LITERAL = /(?<=\\?(?<quote>["'`]))(?<url>\/[\w.~%@+-][^"'`\\\s<>]{0,300})/g;
const ADDRESSES_MAX = 1_000;

/** Finds addresses in scripts and data that still have the former base path after the rewrite. The site may not use all of them. */
export function leftAddresses(file: MountableFile, site: MountedSite): string[] {
  const kind = kindOf(file.path, file.type);
  if (kind !== 'html' && kind !== 'script' && kind !== 'data') return [];
  const mounted = unitsOf(mountFile(file, site));
  const texts = kind === 'html' ? inlineScripts(mounted) : [mounted];
  const left = new Set<string>();
  for (const text of texts) {
    if (isCovered(text)) continue;
    for (const { groups } of text.matchAll(LITERAL)) {
      const url = groups?.url ?? '';
      const isMounted = site.to.startsWith(site.from) && url.startsWith(site.to);
      if (!isMounted && leadsIntoSite(url, site) && left.size < ADDRESSES_MAX) left.add(url);
    }
  }
  return [...left];
}

export const isData = (path: string, size: number): boolean => path.endsWith('.json') && size <= MOUNT_BYTES_MAX;

export const isTooLargeToMount = ({ path, type }: Omit<MountableFile, 'bytes'>, size: number): boolean =>
  size > MOUNT_BYTES_MAX && isMountable(path, type, 0);

const ONE_LAYER = 1;

const TEXT =
  /<(?:[\w-]+:)?(?:loc|link|url|guid|id|icon|logo|image|comments|docs|Url)(?:\s[^<>]*)?>\s*(?<url>\/(?!\/)[^<\s]*)\s*</dg;
const ATTRIBUTE =
  /\b(?:href|src|url|template|poster|scheme)\s*=\s*(?:["']|&quot;|&#3[49];|&apos;)(?<url>\/(?!\/)[^"'<>\s&]*)/dg;

function editsOfFeed(text: string, mount: Mount): Edit[] {
  return [TEXT, ATTRIBUTE].flatMap((pattern) =>
    [...text.matchAll(pattern)].flatMap((match) => {
      const [start, end] = match.indices?.groups?.url ?? [0, 0];
      return rebaseAt(text, start, end, match.groups?.url ?? '', ONE_LAYER, mount) ?? [];
    }),
  );
}
