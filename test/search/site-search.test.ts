import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { DocshelfError } from '../../src/domain/errors.ts';
import { searchRequestOf } from '../../src/domain/search.ts';
import { type IndexedRelease, readAnswer, type SiteSearch } from '../../src/search/index.ts';
import { waitFor } from '../helpers/wait-for.ts';
import { FakeIndex, SECTIONS } from './fake-index.ts';
import { searchOf } from './searched-site.ts';

const JUNE = release('june');
const JULY = release('july');
const REQUEST = searchRequestOf({ query: 'lantern' });

function release(name: string): IndexedRelease {
  return { digest: name, releaseDir: `/${name}`, trailingSlash: 'never' };
}

function siteSearch(index: FakeIndex, { isSemantic = true } = {}) {
  const { search, events, kinds } = searchOf(index, { isSemantic });
  const path = async () => readAnswer(await search.search(REQUEST)).results[0]?.path;
  const fault = () =>
    search.search(REQUEST).then(
      () => null,
      ({ code, fields }: DocshelfError) => ({ code, fields }),
    );
  const until = (matches: (status: SiteSearch['status']) => boolean) =>
    waitFor(
      () => (matches(search.status) ? search.status : null),
      () => JSON.stringify(search.status),
      2_000,
    );
  return { search, events, kinds, path, fault, until };
}

const BUILDING = { code: 'index_building', fields: { retryAfterS: 5 } };

it('SiteSearch is off, and responds with 503 and a retry time, before the site has a version', async () => {
  const { search, fault } = siteSearch(new FakeIndex());
  expect(search.status).toEqual({ keyword: 'off', semantic: 'off', sections: 0, embedded: 0 });
  expect(await fault()).toEqual(BUILDING);
});

it('SiteSearch makes keyword search ready before semantic search, and counts the embedded sections in its status', async () => {
  const index = new FakeIndex(JUNE);
  const { search, path, until, kinds } = siteSearch(index);
  search.switchTo(JUNE, 'v1');
  expect(search.status).toEqual({ keyword: 'building', semantic: 'building', sections: 0, embedded: 0 });
  expect(await until(({ keyword }) => keyword === 'ready')).toEqual({
    keyword: 'ready',
    semantic: 'building',
    sections: SECTIONS,
    embedded: 0,
  });
  expect(await path()).toBe('/june/v1');
  index.embeddings[0]?.onProgress({ passages: 20, embedded: 10 });
  expect(search.status).toMatchObject({ semantic: 'building', embedded: 3 });
  index.embeddings[0]?.onProgress({ passages: 20, embedded: 20 });
  index.embeddings[0]?.end.resolve();
  expect(await until(({ semantic }) => semantic === 'ready')).toMatchObject({ embedded: SECTIONS });
  expect(kinds()).toEqual(['embedded']);
});

it('SiteSearch embeds no text if the model is off', async () => {
  const index = new FakeIndex(JUNE);
  const { search, path } = siteSearch(index, { isSemantic: false });
  search.switchTo(JUNE, 'v1');
  expect(await path()).toBe('/june/v1');
  expect(search.status).toEqual({ keyword: 'ready', semantic: 'off', sections: SECTIONS, embedded: 0 });
  expect(index.embeddings).toEqual([]);
});

it('SiteSearch delays a query while the index opens', async () => {
  const index = new FakeIndex(JUNE);
  const opening = Promise.withResolvers<void>();
  index.gates.open = opening.promise;
  const { search, path } = siteSearch(index);
  search.switchTo(JUNE, 'v1');
  const pending = path();
  await sleep(20);
  expect(index.calls).toEqual(['open june']);
  opening.resolve();
  expect(await pending).toBe('/june/v1');
});

it('SiteSearch builds a missing index, and responds with 503 until the index exists', async () => {
  const index = new FakeIndex();
  const building = Promise.withResolvers<void>();
  index.gates.build = building.promise;
  const { search, events, path, fault, kinds } = siteSearch(index);
  search.switchTo(JUNE, 'v1');
  expect(await fault()).toEqual(BUILDING);
  expect(events).toEqual([{ kind: 'rebuilding', error: null }]);
  building.resolve();
  expect(await path()).toBe('/june/v1');
  expect(kinds()).toEqual(['rebuilding', 'indexed']);
});

it('SiteSearch rebuilds an index that a query finds damaged', async () => {
  const index = new FakeIndex(JUNE);
  const { search, path, fault, kinds } = siteSearch(index);
  search.switchTo(JUNE, 'v1');
  expect(await path()).toBe('/june/v1');
  index.sound.delete('june');
  expect(await fault()).toEqual(BUILDING);
  expect(await path()).toBe('/june/v1');
  expect(index.calls.filter((call) => call === 'build june')).toHaveLength(1);
  expect(kinds()).toContain('rebuilding');
  expect(index.embeddings[0]?.signal.aborted).toBe(true);
});

it('SiteSearch has the status failed if the index cannot be built, and still switches to the next version', async () => {
  const index = new FakeIndex(JULY);
  index.buildFault = new DocshelfError('cannot_write', 'Cannot write the index: the disk is full');
  const { search, path, fault, until, kinds } = siteSearch(index);
  search.switchTo(JUNE, 'v1');
  expect(await until(({ keyword }) => keyword === 'failed')).toMatchObject({ semantic: 'failed', sections: 0 });
  expect(await fault()).toEqual(BUILDING);
  expect(kinds()).toEqual(['rebuilding', 'failed index']);
  search.switchTo(JULY, 'v2');
  expect(await path()).toBe('/july/v2');
  expect(search.status.keyword).toBe('ready');
});

it('SiteSearch stays searchable by keywords if embedding fails', async () => {
  const index = new FakeIndex(JUNE);
  const { search, path, until, kinds } = siteSearch(index);
  search.switchTo(JUNE, 'v1');
  await until(({ keyword }) => keyword === 'ready');
  index.embeddings[0]?.end.reject(new DocshelfError('embedder_failed', 'Cannot embed: no answer'));
  expect(await until(({ semantic }) => semantic === 'failed')).toMatchObject({ keyword: 'ready', embedded: 0 });
  expect(kinds()).toEqual(['failed embed']);
  expect(await path()).toBe('/june/v1');
});

it('SiteSearch ends the embedding and closes the index of the previous version when it switches to another version', async () => {
  const index = new FakeIndex(JUNE, JULY);
  const { search, path, until, kinds } = siteSearch(index);
  search.switchTo(JUNE, 'v1');
  await until(({ keyword }) => keyword === 'ready');
  const former = index.embeddings[0];
  former?.onProgress({ passages: 10, embedded: 9 });

  const opening = Promise.withResolvers<void>();
  index.gates.open = opening.promise;
  search.switchTo(JULY, 'v2');
  expect(search.status).toEqual({ keyword: 'building', semantic: 'building', sections: 0, embedded: 0 });
  expect(former?.signal.aborted).toBe(true);
  former?.onProgress({ passages: 10, embedded: 10 });
  const pending = path();
  opening.resolve();
  expect(await pending).toBe('/july/v2');
  expect(search.status).toMatchObject({ semantic: 'building', embedded: 0 });
  await expect.poll(() => index.calls).toContain('close june');
  expect(index.opened).toEqual(new Set(['july']));
  expect(index.embeddings.map(({ digest }) => digest)).toEqual(['june', 'july']);
  // An aborted search of the former release is not reported as an error.
  expect(kinds()).toEqual([]);
});

it('SiteSearch repeats a query in the next version if the switch occurs before the previous version responds', async () => {
  const index = new FakeIndex(JUNE, JULY);
  const { search, path, until } = siteSearch(index);
  search.switchTo(JUNE, 'v1');
  await until(({ keyword }) => keyword === 'ready');
  const searching = Promise.withResolvers<void>();
  index.gates.search = searching.promise;
  const pending = path();
  search.switchTo(JULY, 'v2');
  await until(({ keyword }) => keyword === 'ready');
  searching.resolve();
  expect(await pending).toBe('/july/v2');
});

it('SiteSearch repeats a query in the next version if the index of the previous version was still opening, and closes that index', async () => {
  const index = new FakeIndex(JUNE, JULY);
  const opening = Promise.withResolvers<void>();
  index.gates.open = opening.promise;
  const { search, path, until } = siteSearch(index);
  search.switchTo(JUNE, 'v1');
  const pending = path();
  delete index.gates.open;
  search.switchTo(JULY, 'v2');
  await until(({ keyword }) => keyword === 'ready');
  opening.resolve();
  expect(await pending).toBe('/july/v2');
  await sleep(20);
  expect(index.opened).toEqual(new Set(['july']));
});

it('SiteSearch accepts another version label for the same release without closing the index', async () => {
  const index = new FakeIndex(JUNE);
  const { search, path } = siteSearch(index);
  search.switchTo(JUNE, 'v1');
  expect(await path()).toBe('/june/v1');
  search.switchTo(JUNE, 'v2');
  expect(await path()).toBe('/june/v2');
  expect(index.calls).not.toContain('close june');
});

it('SiteSearch is off and responds with 503 after close()', async () => {
  const index = new FakeIndex(JUNE);
  const { search, path, fault } = siteSearch(index);
  search.switchTo(JUNE, 'v1');
  await path();
  search.close();
  expect(search.status).toEqual({ keyword: 'off', semantic: 'off', sections: 0, embedded: 0 });
  expect(index.embeddings[0]?.signal.aborted).toBe(true);
  expect(await fault()).toEqual(BUILDING);
  expect(index.calls).toContain('close june');
});

it('SiteSearch throws an error unchanged, and starts no rebuild, if the index has not caused the error', async () => {
  const index = new FakeIndex(JUNE);
  const { search, path, fault, kinds } = siteSearch(index);
  search.switchTo(JUNE, 'v1');
  await path();
  index.gates.search = Promise.reject(new DocshelfError('queue_full', 'Cannot search now', {}));
  expect((await fault())?.code).toBe('queue_full');
  expect(search.status.keyword).toBe('ready');
  expect(kinds()).toEqual([]);
});

it('SiteSearch.index() emits an event for a built index or a failed build, and does not throw if the build fails', async () => {
  const index = new FakeIndex();
  const { search, events } = siteSearch(index);
  const never = new AbortController().signal;
  await search.index(JUNE, never);
  expect(events[0]).toMatchObject({ kind: 'indexed', sections: SECTIONS });
  index.buildFault = new DocshelfError('cannot_write', 'Cannot write the index: the disk is full');
  await search.index(JULY, never);
  expect(events[1]).toMatchObject({ kind: 'failed', step: 'index', error: { code: 'cannot_write' } });
});

it('SiteSearch.index() rejects with the reason of the abort signal, and emits no event', async () => {
  const { search, events } = siteSearch(new FakeIndex());
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(search.index(JUNE, signal)).rejects.toThrow('enough');
  expect(events).toEqual([]);
});

it('SiteSearch emits no event for a failure that a stop of the daemon causes', async () => {
  const index = new FakeIndex(JUNE);
  const { search, path, until, kinds } = siteSearch(index);
  search.switchTo(JUNE, 'v1');
  await path();
  index.embeddings[0]?.end.reject(new DocshelfError('stopping', 'Cannot continue: docshelf is stopping'));
  await until(({ semantic }) => semantic === 'failed');
  index.gates.open = Promise.reject(new DocshelfError('stopping', 'Cannot continue: docshelf is stopping'));
  search.switchTo(JULY, 'v2');
  await until(({ keyword }) => keyword === 'failed');
  expect(kinds()).toEqual([]);
});
