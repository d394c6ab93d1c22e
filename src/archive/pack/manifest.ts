import { type FileEntry, isPage, OWN_FOLDER } from '../../domain/release.ts';

export const MANIFEST_FORMAT_VERSION = 1;

export interface ManifestWords {
  readonly domain: string;
  readonly version: string | null;
  readonly createdAt: string;
  readonly generator: string;
}

/** The same bytes for the same words and files (all but the manifest), in whatever order. */
export function encodeManifest(words: ManifestWords, files: readonly FileEntry[]): Buffer {
  const { domain, version, createdAt, generator } = words;
  const listed = files
    .map(({ path, size, sha256, type }) => ({ path, size, sha256, type }))
    .sort((a, b) => (a.path < b.path ? -1 : Number(a.path > b.path)));
  const pageCount = listed.filter(isSitePage).length;
  const formatVersion = MANIFEST_FORMAT_VERSION;
  const manifest = { formatVersion, domain, version, createdAt, generator, pageCount, files: listed };
  return Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
}

export function isSitePage({ path }: { readonly path: string }): boolean {
  return !path.startsWith(OWN_FOLDER) && isPage(path);
}
