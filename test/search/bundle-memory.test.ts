import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { FileEntry } from '../../src/domain/release.ts';
import { BundleSearchMaker } from '../../src/search/bundle-data/bundle-search-maker.ts';
import type { Embedder } from '../../src/search/ports.ts';
import { newFolder } from '../helpers/new-folder.ts';

const PAGES = 2_000;
const PARAGRAPHS = 30;
const DIMS = 1024;
/** A third more than needed. The text of the site has 43 MB. */
const HEAP_MB = 32;

let dir: string;
beforeEach(async () => {
  dir = newFolder();
});

/** Pages with one long section each, all different. */
async function writeSite(siteDir: string): Promise<FileEntry[]> {
  await mkdir(siteDir);
  const files: FileEntry[] = [];
  for (let at = 0; at < PAGES; at += 1) {
    const path = `page-${String(at).padStart(4, '0')}.html`;
    const paragraphs = Array.from(
      { length: PARAGRAPHS },
      (_, number) => `<p>${`Page ${at} says ${number}. `.repeat(35)}`,
    );
    const text = paragraphs.join('');
    const html = `<!doctype html><title>Page ${at}</title><main><h1>Page ${at}</h1>${text}</main>`;
    await writeFile(join(siteDir, path), html);
    files.push({ path, size: html.length, sha256: '', type: 'text/html; charset=utf-8' });
  }
  return files;
}

describe('BundleSearchMaker (creation of search data for a bundle)', { timeout: 300_000 }, () => {
  it('does not keep the sections or vectors of a site in the heap', async () => {
    const siteDir = join(dir, 'site');
    const files = await writeSite(siteDir);
    const into = join(dir, 'into');
    await mkdir(into);
    const heap = { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: 8 };
    const vector = new Float32Array(DIMS).fill(0.1);
    const embedder: Embedder = {
      ...{ digest: 'ab'.repeat(32), dims: DIMS, reads: () => true },
      embedQuery: async () => vector,
      embedPassages: async (texts) => texts.map(() => vector),
    };
    const model = async () => ({ choice: { kind: 'parent' as const, digest: embedder.digest, dims: DIMS }, embedder });
    const maker = new BundleSearchMaker({ model, cacheDir: join(dir, 'vectors'), heap });
    await maker.make({ siteDir, files }, into, () => undefined, new AbortController().signal);
    const names = (await readdir(into)).filter((name) => name.startsWith('vectors-'));
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(into, name))).size));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(1.25 * HEAP_MB * 1024 ** 2);
  });
});
