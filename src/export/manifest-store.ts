import { createHash } from 'node:crypto';
import { readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeManifest, type ManifestWords } from '../archive/manifest.ts';
import type { FileEntry } from '../domain/release.ts';
import { readBytesIfThere, replaceFile, writeOnce } from '../files/index.ts';

export interface BundleContent {
  readonly domain: string;
  readonly version: string | null;
  /** Every file but the manifest, by path (code units). */
  readonly files: readonly FileEntry[];
}

/** Manifests by the digest of their content. Equal content has one, and so one archive (contract, section 6). */
export class ManifestStore {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** The manifest of this content: an earlier one, else a new one with these words. */
  async take(
    content: BundleContent,
    words: Pick<ManifestWords, 'createdAt' | 'generator'>,
  ): Promise<{ readonly contentSha256: string; readonly bytes: Uint8Array }> {
    const contentSha256 = digestOf(content);
    const bytes = encodeManifest({ domain: content.domain, version: content.version, ...words }, content.files);
    const file = this.#pathOf(contentSha256);
    // Of two jobs that come at once with the same content, one manifest holds.
    if (await writeOnce(file, bytes)) return { contentSha256, bytes };
    // Keeps a sweep from taking it away.
    const now = new Date();
    await utimes(file, now, now);
    return { contentSha256, bytes: await readFile(file) };
  }

  async read(contentSha256: string): Promise<Uint8Array | null> {
    return readBytesIfThere(this.#pathOf(contentSha256));
  }

  /** In place of one that was made here. */
  async keep(contentSha256: string, bytes: Uint8Array): Promise<void> {
    await replaceFile(this.#pathOf(contentSha256), bytes);
  }

  /** Removes manifests that no job names, and leftovers of killed processes, once they are that old. */
  async sweep(keep: ReadonlySet<string>, olderThanMs: number): Promise<void> {
    for (const name of await readdir(this.#dir)) {
      if (keep.has(name.replace(/\.json$/, ''))) continue;
      const file = join(this.#dir, name);
      const info = await stat(file).catch(() => null);
      if (info !== null && Date.now() - info.mtimeMs > olderThanMs) await rm(file, { force: true });
    }
  }

  #pathOf(contentSha256: string): string {
    return join(this.#dir, `${contentSha256}.json`);
  }
}

/** @param manifest of our own store, which nobody else writes */
export function wordsOf(manifest: Uint8Array): { readonly createdAt: string; readonly files: readonly FileEntry[] } {
  return JSON.parse(Buffer.from(manifest).toString());
}

function digestOf({ domain, version, files }: BundleContent): string {
  const hash = createHash('sha256').update(JSON.stringify([domain, version]));
  for (const { path, size, sha256, type } of files) hash.update(`\n${JSON.stringify([path, size, sha256, type])}`);
  return hash.digest('hex');
}
