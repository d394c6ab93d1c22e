import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FetchedUrl } from '../../src/crawl/entry.ts';
import { KeptContent, PageContents } from '../../src/crawl/kept/content-packs.ts';
import { FileStore } from '../../src/files/file-store.ts';

let dir = '';
let store: FileStore;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'docshelf-test-'));
  store = new FileStore(join(dir, 'files'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));
const folders = () => ({ jobDir: dir, recordDir: dir });

describe('KeptContent.answer()', () => {
  const answer = (fields: Partial<FetchedUrl>) =>
    new KeptContent(store, folders()).answer({
      url: 'https://site.test/a',
      status: 200,
      location: null,
      contentType: '',
      etag: null,
      lastModified: null,
      noFollow: false,
      content: null,
      ...fields,
    });

  it('returns the stored bytes with their type', async () => {
    const content = { ...(await store.put(Buffer.from([0xfc, 0x3c]))), packed: null };
    const { status, header, body } = await answer({ content, contentType: 'text/html; charset=latin1' });
    expect([status, header('content-type'), header('location')]).toEqual([200, 'text/html; charset=latin1', null]);
    expect(body).toEqual(Buffer.from([0xfc, 0x3c]));
  });

  it('returns a redirect without a body', async () => {
    const { status, header, body } = await answer({ status: 301, location: 'https://site.test/b#c' });
    expect([status, header('location'), header('content-type')]).toEqual([301, 'https://site.test/b#c', null]);
    expect(body).toHaveLength(0);
  });

  it('rejects a body that is too large for a browser', async () => {
    const content = { sha256: '0'.repeat(64), size: 1024 ** 3, packed: null };
    await expect(answer({ content })).rejects.toMatchObject({ code: 'source_too_large' });
  });
});

const SMALL = 1_000;
const LARGE = 300 * 1024;

const contents = (givesPages: boolean) => new PageContents(store, folders(), 'x.pack', givesPages);

describe('PageContents.store()', () => {
  it('stores a page if no reader is ready for it', () => {
    const content = contents(false);
    const stored = content.store(new Uint8Array(SMALL).fill(7));
    if (stored instanceof Uint8Array) throw new Error('it was given back');
    expect(stored.size).toBe(SMALL);
    expect(readFileSync(store.pathOf(stored.sha256))).toEqual(Buffer.alloc(SMALL, 7));
    expect(content.takeGiven()).toEqual([]);
  });

  it('returns a small page with its memory, once', () => {
    const content = contents(true);
    const page = new Uint8Array(SMALL).fill(7);
    expect(content.store(page)).toBe(page);
    expect(content.takeGiven()).toEqual([page.buffer]);
    expect(content.takeGiven()).toEqual([]);
  });

  it.each([
    ['a large page', new Uint8Array(LARGE)],
    ['a page in shared memory', new Uint8Array(new ArrayBuffer(2 * SMALL), SMALL)],
  ])('stores %s even if a reader is ready', (_, page) => {
    const content = contents(true);
    expect(content.store(page)).toMatchObject({ size: page.length });
    expect(content.takeGiven()).toEqual([]);
  });
});
