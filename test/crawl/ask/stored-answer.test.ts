import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FetchedUrl } from '../../../src/crawl/entry.ts';
import { KeptContent } from '../../../src/crawl/kept/content-packs.ts';
import { FileStore } from '../../../src/files/file-store.ts';

describe('KeptContent.answer()', () => {
  let dir: string;
  let store: FileStore;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'docshelf-stored-'));
    store = new FileStore(dir);
  });
  afterAll(() => rm(dir, { recursive: true }));

  const answer = (fields: Partial<FetchedUrl>) =>
    new KeptContent(store, { jobDir: dir, recordDir: dir }).answer({
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
