import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FetchedUrl } from '../../../src/crawl/ask/fetched-url.ts';
import { storedAnswer } from '../../../src/crawl/ask/fetched-url.ts';
import { FileStore } from '../../../src/files/file-store.ts';

describe('storedAnswer()', () => {
  let dir: string;
  let store: FileStore;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'docshelf-stored-'));
    store = new FileStore(dir);
  });
  afterAll(() => rm(dir, { recursive: true }));

  const fetched = (fields: Partial<FetchedUrl>): FetchedUrl => ({
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
  const answer = (fields: Partial<FetchedUrl>) =>
    storedAnswer(fetched(fields), ({ sha256 }) => readFile(store.pathOf(sha256)));

  it('gives the bytes as they came, with their type', async () => {
    const content = { ...(await store.put(Buffer.from([0xfc, 0x3c]))), packed: null };
    const { status, header, body } = await answer({ content, contentType: 'text/html; charset=latin1' });
    expect([status, header('content-type'), header('location')]).toEqual([200, 'text/html; charset=latin1', null]);
    expect(body).toEqual(Buffer.from([0xfc, 0x3c]));
  });

  it('gives a redirect without a body', async () => {
    const { status, header, body } = await answer({ status: 301, location: 'https://site.test/b#c' });
    expect([status, header('location'), header('content-type')]).toEqual([301, 'https://site.test/b#c', null]);
    expect(body).toHaveLength(0);
  });

  it('refuses what no browser takes', async () => {
    const content = { sha256: '0'.repeat(64), size: 1024 ** 3, packed: null };
    await expect(answer({ content })).rejects.toMatchObject({ code: 'source_too_large' });
  });
});
