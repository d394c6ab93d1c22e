import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeFileTable } from '../../src/files/index.ts';
import { buildIndex } from '../../src/search/indexing/build-index.ts';
import { KeptPages } from '../../src/search/indexing/kept-pages.ts';
import { KeywordIndex } from '../../src/search/keyword/index.ts';
import { sha256Of } from '../acceptance/bundles.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'docshelf-kept-'));
});
afterEach(() => rm(dir, { recursive: true }));

const pageOf = (title: string) => ({
  distance: 64,
  links: Buffer.from(`a link of ${title}`),
  sections: Buffer.from(title.repeat(title === 'large' ? 200_000 : 1)),
});

/** Goes through a version. @returns the paths that were read */
async function version(name: string, former: string | null, digests: Readonly<Record<string, string>>) {
  const read: string[] = [];
  using kept = new KeptPages(join(dir, name), former === null ? null : join(dir, former));
  for (const [path, sha256] of Object.entries(digests)) {
    const page = { path, sha256, type: 'text/html', url: `/${path} ü`, version: null };
    const summary = sha256 === 'none' ? null : pageOf(sha256);
    const known = kept.find(page);
    if (known !== null) {
      expect(known.summary).toEqual(summary);
      kept.keep(known);
    } else {
      read.push(path);
      kept.add(page, summary);
    }
  }
  kept.finish();
  return read;
}

describe('KeptPages', () => {
  it('reads of a second version what has changed or joined, and a third as if the first had not been', async () => {
    const first = { a: 'A', b: 'B', c: 'none', d: 'D', e: 'large', f: 'F', ü: 'none' };
    expect(await version('1', null, first)).toEqual(Object.keys(first));
    const second = { a: 'A', aa: 'N', b: 'changed', c: 'none', e: 'large', f: 'F', ü: 'none' };
    expect(await version('2', '1', second)).toEqual(['aa', 'b']);
    expect(await version('3', '2', first)).toEqual(['b', 'd']);
    expect(await readFile(join(dir, '3'))).toEqual(await readFile(join(dir, '1')));
  });

  it('reads a page anew whose address, version or charset is another', async () => {
    await version('1', null, { a: 'A' });
    const read: string[] = [];
    for (const facts of [
      { sha256: 'A', type: 'text/html', url: '/a/', version: null },
      { sha256: 'A', type: 'text/html', url: '/a', version: '2' },
      { sha256: 'A', type: 'text/html; charset=latin1', url: '/a', version: null },
    ]) {
      using kept = new KeptPages(join(dir, `2-${read.length}`), join(dir, '1'));
      if (kept.find({ path: 'a', ...facts }) === null) read.push(facts.url);
    }
    expect(read).toEqual(['/a/', '/a', '/a']);
  });

  it('reads all from a record on that is damaged or cut short, and without a former file', async () => {
    const digests = { a: 'A', b: 'B', c: 'C' };
    await version('1', null, digests);
    const whole = await readFile(join(dir, '1'));
    const second = whole.length / 3;
    for (let at = second; at < 2 * second; at += 1) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ 0xff;
      await writeFile(join(dir, '2'), bytes);
      expect(await version(`3-${at}`, '2', digests)).toEqual(['b', 'c']);
    }
    await writeFile(join(dir, '2'), whole.subarray(0, -1));
    expect(await version('3', '2', digests)).toEqual(['c']);
    expect(await version('4', 'none', digests)).toEqual(['a', 'b', 'c']);
  });
});

describe('buildIndex()', () => {
  async function build(name: string, texts: Readonly<Record<string, string>>, former: string | null) {
    const releaseDir = join(dir, name);
    await mkdir(join(releaseDir, 'site'), { recursive: true });
    const files = [];
    for (const [path, text] of Object.entries(texts)) {
      const html = `<!doctype html><html lang="en"><title>${path}</title><main><h1>${path}</h1><p>${text}</p><a href="a.html">a</a></main>`;
      await writeFile(join(releaseDir, 'site', path), html);
      files.push({ path, size: html.length, sha256: sha256Of(html), type: 'text/html' });
    }
    await writeFileTable(releaseDir, files);
    const searchDir = join(dir, `${name}-search-${former}`);
    const formerDir = former === null ? null : join(dir, former);
    const order = {
      releaseDir,
      searchDir,
      trailingSlash: 'never',
      modelFolder: null,
      usesCarried: true,
      leftOut: [],
      threadsMax: 0,
    } as const;
    const { sections } = await buildIndex({ ...order, formerDir });
    const keyword = KeywordIndex.open(join(searchDir, 'keyword.sqlite'));
    try {
      return Array.from({ length: sections }, (_, number) => keyword.section(number));
    } finally {
      keyword.close();
    }
  }

  it('makes of a second version the same index as without the first', async () => {
    const texts = { 'a.html': 'Lantern oil.', 'b.html': 'Bread dough.', 'c.html': 'Lantern oil.' };
    await build('first', texts, null);
    const second = { ...texts, 'b.html': 'Rye bread.', 'd.html': 'New.' };
    const alone = await build('second', second, null);
    await rm(join(dir, 'second'), { recursive: true });
    expect(await build('second', second, 'first-search-null')).toEqual(alone);
    expect(alone).toHaveLength(4);
  });
});
