import { type ManifestFile, type ManifestHead, ManifestReader } from '../../src/archive/manifest.ts';

export type WholeManifest = ManifestHead & { readonly files: readonly ManifestFile[] };

/** @param chunkBytes size of the chunks */
export function parseManifest(bytes: Uint8Array, name: string, chunkBytes = bytes.length): WholeManifest {
  const files: ManifestFile[] = [];
  const reader = new ManifestReader(name, (file) => files.push(file));
  for (let at = 0; at < bytes.length; at += chunkBytes) reader.push(Buffer.from(bytes.subarray(at, at + chunkBytes)));
  return { ...reader.end(), files };
}
