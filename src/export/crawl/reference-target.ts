import { type FoundReference, type FoundReferences, resolveSpecifier } from '../../web/rewrite/index.ts';

/** Where the references of a file start from. */
export interface ReferenceBase {
  /** Address of the file. */
  readonly fileUrl: string;
  /** What its relative references are resolved against: its `<base>`, or itself. */
  readonly baseUrl: string;
  /** What the addresses in a script are resolved against that are seen from the page. */
  readonly pageUrl: string;
  readonly importMaps: readonly string[];
}

/** @param isPage whether it is markup, and not a file that pages load */
export function baseOf(found: FoundReferences, fileUrl: string, siteUrl: string, isPage: boolean): ReferenceBase {
  const baseUrl = found.base === null ? fileUrl : (URL.parse(found.base, fileUrl)?.href ?? fileUrl);
  return { fileUrl, baseUrl, pageUrl: isPage ? baseUrl : siteUrl, importMaps: found.importMaps };
}

/** Where a reference leads, or null where it leads nowhere, or where something else than its own text decides that. */
export function targetOf({ kind, url }: Pick<FoundReference, 'kind' | 'url'>, base: ReferenceBase): URL | null {
  if (kind === 'module') {
    const resolved = resolveSpecifier(url, base.baseUrl, base.importMaps);
    return resolved === null ? null : URL.parse(resolved.url);
  }
  // A base is resolved against the address of the page itself.
  if (kind === 'base') return URL.parse(url, base.fileUrl);
  return URL.parse(url, kind === 'worker' ? base.pageUrl : base.baseUrl);
}

/** Whether an import map leads a specifier: then the map is written anew, and the specifier stays. */
export function isMapped({ kind, url }: Pick<FoundReference, 'kind' | 'url'>, base: ReferenceBase): boolean {
  return kind === 'module' && resolveSpecifier(url, base.baseUrl, base.importMaps)?.isMapped === true;
}
