import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { FetchedUrl } from '../../src/crawl/entry.ts';
import { answerOf } from '../../src/crawl/render/live-site.ts';
import { FileStore } from '../../src/files/file-store.ts';
import { newFolder } from '../helpers/new-folder.ts';

let dir = '';
let store: FileStore;
beforeEach(async () => {
  dir = newFolder();
  store = new FileStore(join(dir, 'files'));
});

describe('answerOf() for a request of the crawl browser', () => {
  const answer = (fields: Partial<FetchedUrl>) =>
    answerOf(
      {
        url: 'https://site.test/a',
        status: 200,
        location: null,
        contentType: '',
        etag: null,
        lastModified: null,
        noFollow: false,
        content: null,
        ...fields,
      },
      store,
    );

  it('returns the stored bytes of the file with their content type', async () => {
    const content = await store.put(Buffer.from([0xfc, 0x3c]));
    const { status, header, body } = await answer({ content, contentType: 'text/html; charset=latin1' });
    expect([status, header('content-type'), header('location')]).toEqual([200, 'text/html; charset=latin1', null]);
    expect(body).toEqual(Buffer.from([0xfc, 0x3c]));
  });

  it('returns a redirect of the live site without a body', async () => {
    const { status, header, body } = await answer({ status: 301, location: 'https://site.test/b#c' });
    expect([status, header('location'), header('content-type')]).toEqual([301, 'https://site.test/b#c', null]);
    expect(body).toHaveLength(0);
  });

  it('rejects a body that is too large for a browser', async () => {
    const content = { sha256: '0'.repeat(64), size: 1024 ** 3 };
    await expect(answer({ content })).rejects.toMatchObject({ code: 'source_too_large' });
  });
});
