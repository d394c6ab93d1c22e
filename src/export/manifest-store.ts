import { createHash } from 'node:crypto';
import { readdir, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeManifest, type ManifestFacts } from '../archive/manifest.ts';
import type { FileEntry } from '../domain/release.ts';
import { ageOf, readBytesIfThere, replaceFile, writeOnce } from '../files/index.ts';

export interface BundleContent {
  readonly domain: string;
  readonly version: string | null;
  readonly files: readonly FileEntry[];
}

export class ManifestStore {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Stores a manifest. If several jobs export the same content, the first written manifest stays. @returns key of the manifest */
  async take(content: BundleContent, words: Pick<ManifestFacts, 'createdAt' | 'generator'>): Promise<string> {
    const contentSha256 = digestOf(content);
    const bytes = encodeManifest({ domain: content.domain, version: content.version, ...words }, content.files);
    const file = this.#pathOf(contentSha256);
    if (!(await writeOnce(file, bytes))) {
      const now = new Date();
      await utimes(file, now, now);
    }
    return contentSha256;
  }

  async read(contentSha256: string): Promise<Uint8Array | null> {
    return readBytesIfThere(this.#pathOf(contentSha256));
  }

  async keep(contentSha256: string, bytes: Uint8Array): Promise<void> {
    await replaceFile(this.#pathOf(contentSha256), bytes);
  }

  async sweep(keep: ReadonlySet<string>, olderThanMs: number): Promise<void> {
    for (const name of await readdir(this.#dir)) {
      if (keep.has(name.replace(/\.json$/, ''))) continue;
      const file = join(this.#dir, name);
      if (((await ageOf(file)) ?? 0) > olderThanMs) await rm(file, { force: true });
    }
  }

  #pathOf(contentSha256: string): string {
    return join(this.#dir, `${contentSha256}.json`);
  }
}

export const wordsOf = (manifest: Uint8Array): { readonly createdAt: string; readonly files: readonly FileEntry[] } =>
  JSON.parse(Buffer.from(manifest).toString());

function digestOf({ domain, version, files }: BundleContent): string {
  const hash = createHash('sha256').update(JSON.stringify([domain, version]));
  for (const { path, size, sha256, type } of files) hash.update(`\n${JSON.stringify([path, size, sha256, type])}`);
  return hash.digest('hex');
}
