import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FileEntry } from '../../src/domain/release.ts';
import { BundleSearchMaker } from '../../src/search/bundle-data/bundle-search-maker.ts';

const PAGES = 2_000;
const PARAGRAPHS = 30;
/** A third more than what is needed; the text of the site is 43 MB. */
const HEAP_MB = 32;

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'docshelf-bundle-memory-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** Pages of one long section each, no two alike. */
async function writeSite(siteDir: string): Promise<FileEntry[]> {
  await mkdir(siteDir);
  const files: FileEntry[] = [];
  for (let at = 0; at < PAGES; at += 1) {
    const path = `page-${String(at).padStart(4, '0')}.html`;
    const text = `<p>${`Page ${at} says this. `.repeat(35)}`.repeat(PARAGRAPHS);
    const html = `<!doctype html><title>Page ${at}</title><main><h1>Page ${at}</h1>${text}</main>`;
    await writeFile(join(siteDir, path), html);
    files.push({ path, size: html.length, sha256: '', type: 'text/html; charset=utf-8' });
  }
  return files;
}

describe('BundleSearchMaker', { timeout: 300_000 }, () => {
  it('does not hold the sections of a site in its heap', async () => {
    const siteDir = join(dir, 'site');
    const files = await writeSite(siteDir);
    const into = join(dir, 'into');
    await mkdir(into);
    const heap = { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: 8 };
    const maker = new BundleSearchMaker({ model: null, cacheDir: join(dir, 'vectors'), heap });
    await maker.make({ siteDir, files }, into, () => undefined, new AbortController().signal);
    const { sections } = JSON.parse(await readFile(join(into, 'header.json'), 'utf8'));
    expect(sections.count).toBe(PAGES);
    const bytes = sections.shards.reduce((sum: number, shard: { bytes: number }) => sum + shard.bytes, 0);
    expect(bytes).toBeGreaterThan(1.25 * HEAP_MB * 1024 ** 2);
  });
});
