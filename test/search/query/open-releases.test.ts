import { statSync } from 'node:fs';
import { truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { searchRequestOf } from '../../../src/domain/search.ts';
import { IndexFile } from '../../../src/search/keyword/index-file.ts';
import { OpenReleases } from '../../../src/search/query/query-thread.ts';
import { ReleaseSearch } from '../../../src/search/query/release-search.ts';
import { indexPath, writeIndex } from '../keyword/index-folder.ts';

const REQUEST = searchRequestOf({ query: 'lantern' });
const ROOM = 1024 ** 3;

const opening = vi.spyOn(IndexFile, 'open');
const closing = vi.spyOn(ReleaseSearch.prototype, 'close');
beforeEach(() => vi.clearAllMocks());
afterEach(() => vi.clearAllMocks());

/** Search folder of a release with one section of this text. */
async function release(text: string): Promise<string> {
  const path = indexPath();
  writeIndex(path, [{ title: 'Lantern', text }], () => [{ start: 0, end: text.length }]);
  return dirname(path);
}

const textOf = (open: OpenReleases, searchDir: string) =>
  open.use(searchDir, async (found) => (await found.search(REQUEST, 'v1', null))[0]?.content);
async function codeOf(act: () => unknown): Promise<unknown> {
  try {
    await act();
    return 'none';
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
}

it('OpenReleases (cache of open search indexes) opens an index on the first query, only once for concurrent queries, and keeps the index open', async () => {
  const open = new OpenReleases(ROOM);
  const june = await release('The lantern of June.');
  expect([open.check(june), open.size]).toEqual([{ sections: 1 }, 0]);
  opening.mockClear();
  const answers = await Promise.all([textOf(open, june), textOf(open, june), textOf(open, june)]);
  expect(new Set(answers)).toEqual(new Set(['The lantern of June.']));
  expect(await textOf(open, june)).toBe('The lantern of June.');
  expect([opening.mock.calls.length, open.size]).toEqual([1, 1]);
});

it('OpenReleases (cache of open search indexes) keeps open indexes within the byte limit, closes the least recently used index, and opens it again on demand', async () => {
  const [june, july, august] = [
    await release('June lantern'),
    await release('July lantern'),
    await release('August lantern'),
  ];
  const one = statSync(`${june}/keyword.sqlite`).size + 2 * 1024 ** 2;
  const open = new OpenReleases(one * 2.5);
  for (const searchDir of [june, july, june, august]) await textOf(open, searchDir);
  expect([opening.mock.calls.length, closing.mock.calls.length, open.size]).toEqual([3, 1, 2]);
  // June was searched after July.
  expect(await textOf(open, june)).toBe('June lantern');
  expect(opening).toHaveBeenCalledTimes(3);
  expect(await textOf(open, july)).toBe('July lantern');
  expect(opening).toHaveBeenCalledTimes(4);
});

it('OpenReleases (cache of open search indexes) keeps the index in use open, even if it is larger than the limit', async () => {
  const [june, july] = [await release('June lantern'), await release('July lantern')];
  const open = new OpenReleases(1);
  for (const searchDir of [june, june, july, july]) expect(await textOf(open, searchDir)).toMatch(/lantern$/);
  expect([opening.mock.calls.length, open.size]).toEqual([2, 1]);
});

it('OpenReleases (cache of open search indexes) finishes pending queries of an evicted index before it closes the index', async () => {
  const [june, july] = [await release('June lantern'), await release('July lantern')];
  const open = new OpenReleases(1);
  const model = Promise.withResolvers<never>();
  const semantic = { digest: 'm', revision: 1, load: () => model.promise };
  const pending = open.use(june, (found) => found.search(REQUEST, 'v1', semantic));
  await vi.waitFor(() => expect(open.size).toBe(1), 30_000);
  expect(await textOf(open, july)).toBe('July lantern');
  expect(open.size).toBe(1);
  model.reject(new Error('no answer'));
  expect((await pending)[0]?.content).toBe('June lantern');
});

it('OpenReleases (cache of open search indexes) keeps other indexes available if one index is damaged, and verifies an index again on request', async () => {
  const [june, july] = [await release('June lantern'), await release('July lantern')];
  const open = new OpenReleases(ROOM);
  open.check(june);
  await truncate(`${july}/keyword.sqlite`, 5_000);
  expect(await codeOf(() => open.check(july))).toBe('index_damaged');
  expect(await codeOf(() => textOf(open, july))).toBe('index_damaged');
  expect(await textOf(open, june)).toBe('June lantern');
  await truncate(`${june}/keyword.sqlite`, 5_000);
  expect(await codeOf(() => open.check(june))).toBe('index_damaged');
  expect(open.size).toBe(0);
});

it('OpenReleases (cache of open search indexes) keeps responding from the open index while it verifies the index file, and then from the newly opened index', async () => {
  const june = await release('June lantern');
  const open = new OpenReleases(ROOM);
  const opened = textOf(open, june);
  for (let twice = 0; twice < 2; twice += 1) open.check(june);
  expect(await opened).toBe('June lantern');
  const model = Promise.withResolvers<never>();
  const pending = open.use(june, (found) =>
    found.search(REQUEST, 'v1', { digest: 'm', revision: 1, load: () => model.promise }),
  );
  open.check(june);
  expect([open.size, await textOf(open, june)]).toEqual([1, 'June lantern']);
  model.reject(new Error('no answer'));
  expect((await pending)[0]?.content).toBe('June lantern');
});

it('OpenReleases (cache of open search indexes) finishes a pending query before it closes the index', async () => {
  const june = await release('June lantern');
  const open = new OpenReleases(ROOM);
  const pending = textOf(open, june);
  open.close(june);
  expect(await pending).toBe('June lantern');
  expect(open.size).toBe(0);
});
