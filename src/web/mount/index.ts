import { findReferences, textOf } from '../rewrite/find-references.ts';
import { referencesOf } from '../rewrite/reference.ts';
import { isUtf16 } from '../rewrite/source-text.ts';
import type { SourceType } from '../rewrite/source-type.ts';
import { type Edit, spliceBytes, writtenUrl } from '../rewrite/write.ts';
import { type Mount, rebase } from './base-path.ts';
import { type MountedSite, rebaseAt, withoutOverlaps } from './edits.ts';
import { editsOfGenerators, type GeneratorPlace } from './generators.ts';
import { editsOfFeed, editsOfForms } from './markup.ts';
import { kindOf, type MountableFile, type MountKind } from './mountable.ts';

/**
 * A file of a bundle for another base path than it was built for: references of HTML, SVG, CSS, scripts, import maps, web
 * manifests, sitemaps and feeds, and what a table knows of the generators' runtimes and payloads. Relative references,
 * fragments and other hosts stay. Nothing is resolved anew; bytes around a reference stay as they are.
 */
export { type Mount, rebase, type StrippedTarget, stripBase } from './base-path.ts';
export { answers, BasePathVotes } from './base-path-votes.ts';
export type { MountedSite } from './edits.ts';
export { isMountable, type MountableFile } from './mountable.ts';

/** The targets of a page's `integrity` attributes: address and digest as they are written. */
export function integrityTargets(file: MountableFile): { readonly url: string; readonly digest: string }[] {
  const kind = kindOf(file.path, file.type);
  if (kind !== 'html' && kind !== 'xml') return [];
  const source = referring(file, kind);
  const text = textOf(source);
  if (isUtf16(text.charset) || !/integrity/i.test(text.units)) return [];
  return [...referencesOf(findReferences(source, text))].flatMap(({ kind: each, url, start, end }) =>
    each === 'integrity' ? [{ url, digest: text.units.slice(start, end) }] : [],
  );
}

/**
 * The same object where nothing changes.
 *
 * @param digestOf the `integrity` of a changed target (`integrityTargets`), null where it stays
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
  const text = textOf(source);
  const edits: Edit[] = [];
  // The label of a version may contain `+`, which has a meaning in patterns. The string has two backslashes for one.
  const patterned = { from: site.from, to: site.to.replaceAll('+', String.raw`\\+`) };
  if (!isUtf16(text.charset)) edits.push(...editsOfGenerators(placeOf(kind), { text: text.units, site }));
  if (!isData) {
    const found = findReferences(source, text);
    for (const { kind: each, url, start, end, writing } of referencesOf(found)) {
      if (each === 'mention') continue;
      const edit =
        each === 'integrity'
          ? digestEdit(start, end, digestOf(url), writing)
          : editAt(start, end, url, writing, each === 'pattern' ? patterned : site);
      if (edit !== null) edits.push(edit);
    }
    if (!isUtf16(text.charset)) {
      if (kind === 'html' || kind === 'xml') edits.push(...editsOfForms(text.units, kind === 'xml', site));
      if (kind === 'feed') edits.push(...editsOfFeed(text.units, site));
    }
  }
  const made = withoutOverlaps(edits);
  return made.length === 0 ? file.bytes : spliceBytes(file.bytes, made, text.charset);

  function editAt(start: number, end: number, url: string, writing: number, mount: Mount): Edit | null {
    if (!isUtf16(text.charset)) return rebaseAt(text.units, start, end, url, writing, mount);
    const rebased = rebase(url, mount);
    return rebased === null ? null : { start, end, text: writtenUrl(rebased, writing) };
  }
}

function digestEdit(start: number, end: number, digest: string | null, writing: number): Edit | null {
  return digest === null ? null : { start, end, text: writtenUrl(digest, writing) };
}

function placeOf(kind: MountKind): GeneratorPlace {
  if (kind === 'html') return 'page';
  return kind === 'script' || kind === 'payload' || kind === 'data' ? kind : 'other';
}

function referring({ path, bytes, type: mediaType }: MountableFile, type: SourceType) {
  const charset = /charset=([\w.:-]+)/i.exec(mediaType)?.[1]?.toLowerCase() ?? null;
  return { type, bytes, charset, path: `/${path}` };
}
