import { hash } from 'node:crypto';
import { encodeManifest, type ManifestFacts } from '../../src/archive/manifest.ts';
import { archiveOrder, type PackedArchive, packBundle } from '../../src/archive/pack.ts';
import { MANIFEST_PATH } from '../../src/domain/release.ts';

/** A file to pack. */
export interface PackedFile {
  /** Path in the archive: canonical, `/` between segments. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

export interface PackOptions {
  /** In any order. */
  readonly files: Iterable<PackedFile>;
  /** The archive's file; one that is there is replaced. */
  readonly to: string;
  /** Adds `_docshelf/manifest.json`; `typeOf` gives the media type of a path. */
  readonly manifest?: ManifestFacts & { readonly typeOf: (path: string) => string };
}

/** Packs a small site that is in memory, manifest and all, as `packBundle` does. @throws what that throws */
export async function packTarGz({ files, to, manifest }: PackOptions): Promise<PackedArchive> {
  const entries = [...files];
  if (manifest) {
    const table = entries.map(({ path, bytes }) => ({
      path,
      size: bytes.length,
      sha256: hash('sha256', bytes),
      type: manifest.typeOf(path),
    }));
    entries.push({ path: MANIFEST_PATH, bytes: encodeManifest(manifest, table) });
  }
  return packBundle({ entries: entries.sort(archiveOrder), to });
}
