import { readdir, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { DocshelfError } from '../../src/domain/errors.ts';
import type { EmbeddedEngine, IndexedRelease } from '../../src/search/index.ts';
import { HEAPS } from '../../src/threads/index.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { watchThreads } from '../helpers/watch-threads.ts';
import { engineOf, searchOf, writeRelease } from './searched-site.ts';

const MODEL = join(import.meta.dirname, '../../models/all-MiniLM-L6-v2');
const NEVER = new AbortController().signal;

let folder: string;
let engine: EmbeddedEngine;
let threads: ReturnType<typeof watchThreads>;

beforeEach(async () => {
  folder = newFolder();
  threads = watchThreads();
  engine = engineOf(join(folder, 'vectors'), MODEL, { longBuildMs: 10 });
});
afterEach(async () => {
  await engine.stop();
  expect(threads.alive()).toBe(0);
  threads.stop();
});

/** A release with pages of this text, not indexed yet. */
async function release(text: string, pages = 1): Promise<IndexedRelease> {
  const digest = text.replace(/\W/g, '').toLowerCase().padEnd(64, '0');
  const releaseDir = join(folder, 'releases', digest);
  const page = (n: number) =>
    `<!doctype html><html lang="en"><title>Page ${n}</title><main><h1>Page ${n}</h1><p>${text} ${n}.</p></main>`;
  const paths = Array.from({ length: pages }, (_, n) => [`p${n}.html`, page(n)]);
  return writeRelease(releaseDir, digest, Object.fromEntries(paths));
}

function site({ isSemantic = false } = {}) {
  const made = searchOf(engine, { isSemantic });
  const fault = (query: string) =>
    made.found(query).then(
      () => 'none',
      ({ code }: DocshelfError) => code,
    );
  return { ...made, fault };
}

const damage = ({ releaseDir }: IndexedRelease) => truncate(join(releaseDir, 'search/keyword.sqlite'), 5_000);
const built = async (made: IndexedRelease): Promise<IndexedRelease> => {
  await site().search.index(made, NEVER);
  return made;
};

it('EmbeddedEngine (built-in search engine) searches each site in its own release, in one thread for all sites', async () => {
  const sites = await Promise.all(
    ['Lantern oil', 'Bread dough', 'Engine parts'].map(async (text) => ({
      ...site(),
      release: await built(await release(text)),
    })),
  );
  const before = threads.started.length;
  for (const { search, release } of sites) search.switchTo(release, 'v1');
  for (const { until } of sites) expect(await until('keyword')).toMatchObject({ sections: 1, semantic: 'off' });
  expect(await Promise.all(sites.map(({ found }) => found('dough')))).toEqual([null, 'Bread dough 0.', null]);
  expect(await Promise.all(sites.map(({ found }) => found('lantern')))).toEqual(['Lantern oil 0.', null, null]);
  expect(threads.started.length - before).toBe(1);
});

it('EmbeddedEngine (built-in search engine) shares the index of two sites with the same release, and keeps the index when one site closes', async () => {
  const both = await built(await release('Lantern oil'));
  const [one, other] = [site(), site()];
  one.search.switchTo(both, 'v1');
  other.search.switchTo(both, 'v2');
  await Promise.all([one.until('keyword'), other.until('keyword')]);
  expect(await Promise.all([one.found('lantern'), other.found('lantern')])).toEqual([
    'Lantern oil 0.',
    'Lantern oil 0.',
  ]);
  one.search.close();
  expect(await one.fault('lantern')).toBe('index_building');
  expect(await other.found('lantern')).toBe('Lantern oil 0.');
  other.search.switchTo(await built(await release('Bread dough')), 'v3');
  await other.until('keyword');
  expect(await other.found('lantern')).toBeNull();
  one.search.switchTo(both, 'v1');
  await one.until('keyword');
  expect(await one.found('lantern')).toBe('Lantern oil 0.');
});

it('EmbeddedEngine (built-in search engine) rebuilds a damaged index only once if two sites share the index, without effect on a third site', async () => {
  const [shared, sound] = [await built(await release('Lantern oil')), await built(await release('Bread dough'))];
  await damage(shared);
  const [one, other, third] = [site(), site(), site()];
  third.search.switchTo(sound, 'v1');
  await third.until('keyword');
  one.search.switchTo(shared, 'v1');
  other.search.switchTo(shared, 'v1');
  expect(await third.found('dough')).toBe('Bread dough 0.');
  await Promise.all([one.until('keyword'), other.until('keyword')]);
  expect(await Promise.all([one.found('lantern'), other.found('lantern')])).toEqual([
    'Lantern oil 0.',
    'Lantern oil 0.',
  ]);
  expect([one.kinds(), third.kinds()]).toEqual([['rebuilding', 'indexed'], []]);
  expect(await readdir(shared.releaseDir)).not.toContainEqual(expect.stringMatching(/^\.search/));
});

it('EmbeddedEngine (built-in search engine) still searches a second site if the release of the first site is unreadable', async () => {
  const [bad, good] = [await release('Lantern oil'), await built(await release('Bread dough'))];
  await rm(join(bad.releaseDir, 'files.table'));
  const [one, other] = [site(), site()];
  one.search.switchTo(bad, 'v1');
  other.search.switchTo(good, 'v1');
  await other.until('keyword');
  expect(await other.found('dough')).toBe('Bread dough 0.');
  await one.until('keyword', 'failed');
  expect(one.kinds()).toEqual(['rebuilding', 'failed index']);
  expect(await one.fault('lantern')).toBe('index_building');
  expect([other.kinds(), await other.found('dough')]).toEqual([[], 'Bread dough 0.']);
});

it('EmbeddedEngine (built-in search engine) responds for every site from a new thread after the query thread died', async () => {
  const sites = await Promise.all(
    ['Lantern oil', 'Bread dough'].map(async (text) => ({ ...site(), release: await built(await release(text)) })),
  );
  for (const { search, release } of sites) search.switchTo(release, 'v1');
  for (const { until } of sites) await until('keyword');
  await threads.started.at(-1)?.terminate();
  expect(await Promise.all(sites.map(({ found }) => found('lantern OR dough')))).toEqual([
    'Lantern oil 0.',
    'Bread dough 0.',
  ]);
  expect(sites.flatMap(({ kinds }) => kinds())).toEqual([]);
});

it('EmbeddedEngine (built-in search engine) responds or returns an error for each pending query when the query thread dies, and recovers', async () => {
  const made = await built(await release('Lantern oil', 200));
  const { search, until, found, fault, kinds } = site();
  search.switchTo(made, 'v1');
  await until('keyword');
  expect(threads.started.at(-1)?.resourceLimits?.maxOldGenerationSizeMb).toBe(HEAPS.query.maxOldGenerationSizeMb);
  const pending = Array.from({ length: 50 }, () => fault('lantern'));
  await threads.started.at(-1)?.terminate();
  const outcomes = new Set(await Promise.all(pending));
  expect([...outcomes].filter((outcome) => outcome !== 'none' && outcome !== 'index_building')).toEqual([]);
  await until('keyword');
  expect(await found('lantern')).toMatch(/^Lantern oil/);
  // Another thread opened the index without building it again.
  expect(kinds()).not.toContain('indexed');
  expect(threads.alive()).toBe(1);
});

it('EmbeddedEngine (built-in search engine) indexes a small site without waiting for the index of a large site', {
  timeout: 120_000,
}, async () => {
  const [large, small] = [await release('Fixing the engine', 1_500), await release('Knead the dough')];
  const order: string[] = [];
  const index = async (name: string, made: IndexedRelease) => {
    const { search, kinds } = site();
    await search.index(made, NEVER);
    order.push(`${name} ${kinds().join()}`);
  };
  const both = index('large', large);
  await Promise.all([both, index('small', small)]);
  expect(order).toEqual(['small indexed', 'large indexed']);
  const { search, until, found } = site();
  search.switchTo(small, 'v1');
  await until('keyword');
  expect(await found('dough')).toBe('Knead the dough 0.');
});

it('EmbeddedEngine (built-in search engine) embeds one site at a time in one process, while keyword search works for all sites', {
  timeout: 120_000,
}, async () => {
  const huge = await built(await release('Fixing the engine of a vehicle', 400));
  const small = await built(await release('Knead the dough of a loaf'));
  const [one, other] = [site({ isSemantic: true }), site({ isSemantic: true })];
  one.search.switchTo(huge, 'v1');
  await expect.poll(() => one.search.status.embedded).toBeGreaterThan(0);
  other.search.switchTo(small, 'v1');
  expect(await other.until('keyword')).toMatchObject({ semantic: 'building', embedded: 0 });
  expect(await other.found('dough')).toMatch(/^Knead the dough/);
  expect(threads.alive()).toBe(2);
  one.search.close();
  expect(await other.until('semantic')).toMatchObject({ sections: 1, embedded: 1 });
  expect(await other.found('how do you bake bread')).toMatch(/^Knead the dough/);
  expect(other.kinds()).toEqual(['embedded']);
});
