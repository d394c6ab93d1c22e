import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PageContents } from '../../../src/crawl/kept/content-packs.ts';
import { FileStore } from '../../../src/files/file-store.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'docshelf-test-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const SMALL = 1_000;
const LARGE = 300 * 1024;

function contents(givesPages: boolean): { readonly content: PageContents; readonly store: FileStore } {
  const store = new FileStore(join(dir, 'files'));
  const folders = { jobDir: dir, recordDir: dir };
  return { content: new PageContents(store, folders, 'x.pack', givesPages), store };
}

describe('PageContents.store()', () => {
  it('stores a page where nobody else has time for it', () => {
    const { content, store } = contents(false);
    const stored = content.store(new Uint8Array(SMALL).fill(7));
    if (stored instanceof Uint8Array) throw new Error('it was given back');
    expect(stored.size).toBe(SMALL);
    expect(readFileSync(store.pathOf(stored.sha256))).toEqual(Buffer.alloc(SMALL, 7));
    expect(content.takeGiven()).toEqual([]);
  });

  it('gives a small page back with its memory, once', () => {
    const { content } = contents(true);
    const page = new Uint8Array(SMALL).fill(7);
    expect(content.store(page)).toBe(page);
    expect(content.takeGiven()).toEqual([page.buffer]);
    expect(content.takeGiven()).toEqual([]);
  });

  it.each([
    ['a large page', new Uint8Array(LARGE)],
    ['a page in memory that others use', new Uint8Array(new ArrayBuffer(2 * SMALL), SMALL)],
  ])('stores %s all the same', (_, page) => {
    const { content } = contents(true);
    expect(content.store(page)).toMatchObject({ size: page.length });
    expect(content.takeGiven()).toEqual([]);
  });
});
