import { hash } from 'node:crypto';
import { encodeManifest, type ManifestFacts } from '../../src/archive/manifest.ts';
import { archiveOrder, type PackedArchive, packBundle } from '../../src/archive/pack.ts';
import { MANIFEST_PATH } from '../../src/domain/release.ts';

export interface PackedFile {
  /** Canonical path in the archive, with `/` between segments. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

export interface PackOptions {
  readonly files: Iterable<PackedFile>;
  /** Path of the archive. An existing file is replaced. */
  readonly to: string;
  /** Adds `_docshelf/manifest.json`. `typeOf` returns the media type of a path. */
  readonly manifest?: ManifestFacts & { readonly typeOf: (path: string) => string };
}

/** Packs a small in-memory site with `packBundle`. @throws the errors of `packBundle` */
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
