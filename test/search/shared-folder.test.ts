import { readdir, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lockFile } from '../../src/files/file-lock.ts';
import { EmbeddedEngine, type IndexedRelease } from '../../src/search/index.ts';
import type { EmbedProgress } from '../../src/search/ports.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { searchOf, writeRelease } from './searched-site.ts';

/** Two daemons on one data folder, each with a separate engine. */

const DIMS = 32;
const PAGES = 40;
const DIGEST = 'ab'.repeat(32);

let folder: string;
const engines: EmbeddedEngine[] = [];
beforeEach(async () => {
  folder = newFolder();
});
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop();
});

async function release(): Promise<IndexedRelease> {
  const releaseDir = join(folder, 'releases', DIGEST);
  const page = (n: number) =>
    `<!doctype html><html lang="en"><title>Page ${n}</title><main><h1>Page ${n}</h1><p>Leaf number${n}.</p></main></html>`;
  const pages = Array.from({ length: PAGES }, (_, n) => [`p${n}.html`, page(n)]);
  return writeRelease(releaseDir, DIGEST, Object.fromEntries(pages));
}

/** Search of a daemon whose model records its texts. */
function replica({ failures = 0, othersSilentMs = 60_000 } = {}) {
  const asked: string[] = [];
  let failuresLeft = failures;
  const embedder = {
    digest: 'cd'.repeat(32),
    dims: DIMS,
    reads: () => true,
    embedQuery: async () => new Float32Array(DIMS).fill(1 / Math.sqrt(DIMS)),
    embedPassages: async (texts: readonly string[]) => {
      if (asked.length > 0 && failuresLeft > 0) {
        failuresLeft -= 1;
        throw new Error('the model is away');
      }
      asked.push(...texts);
      await sleep(20);
      return texts.map(() => new Float32Array(DIMS).fill(1 / Math.sqrt(DIMS)));
    },
  };
  const engine = new EmbeddedEngine({
    model: async () => ({ choice: { kind: 'parent', digest: embedder.digest, dims: DIMS }, embedder }),
    cacheDir: join(folder, 'vectors'),
    memoryBytesMax: 384 * 1024 ** 2,
    othersSilentMs,
  });
  engines.push(engine);
  return { engine, asked, ...searchOf(engine, { isSemantic: true, againAfterMs: 60_000 }) };
}

/** Runs a function while another daemon has the lock on the vectors of the release. */
async function whileLocked({ releaseDir }: IndexedRelease, act: () => Promise<void>): Promise<void> {
  const lock = lockFile(join(releaseDir, 'search/vectors.lock'), 'exclusive');
  if (lock === null || lock === 'taken') throw new Error(`the lock is ${lock}`);
  await act().finally(() => lock.close());
}

it('EmbeddedEngine (built-in search engine) embeds a release once for two daemons, and both search with the vectors', async () => {
  const both = await release();
  const [one, other] = [replica(), replica()];
  await one.search.index(both, new AbortController().signal);
  for (const { search } of [one, other]) search.switchTo(both, 'v1');
  expect(await one.until('semantic')).toMatchObject({ sections: PAGES, embedded: PAGES });
  expect(await other.until('semantic')).toMatchObject({ sections: PAGES, embedded: PAGES });
  const asked = [...one.asked, ...other.asked];
  expect([asked.length, new Set(asked).size]).toEqual([PAGES, PAGES]);
  for (const { found } of [one, other]) expect(await found('number7')).toBe('Leaf number7.');
  for (const { events } of [one, other]) expect(events.filter(({ kind }) => kind === 'failed')).toEqual([]);
});

it('EmbeddedEngine (built-in search engine) continues an embedding that failed in another daemon, from the point of failure', async () => {
  const both = await release();
  const [one, other] = [replica({ failures: Number.POSITIVE_INFINITY }), replica()];
  await one.search.index(both, new AbortController().signal);
  one.search.switchTo(both, 'v1');
  await expect.poll(() => one.asked.length).toBeGreaterThan(0);
  other.search.switchTo(both, 'v1');
  await one.until('semantic', 'failed');
  await other.until('semantic');
  expect(new Set([...one.asked, ...other.asked]).size).toBe(PAGES);
  expect(other.asked.filter((text) => one.asked.includes(text))).toEqual([]);
});

it('EmbeddedEngine (built-in search engine) embeds a release itself if the daemon that has the lock makes no progress', async () => {
  const both = await release();
  const one = replica({ othersSilentMs: 500 });
  await one.search.index(both, new AbortController().signal);
  await whileLocked(both, async () => {
    one.search.switchTo(both, 'v1');
    expect(await one.until('semantic')).toMatchObject({ embedded: PAGES });
  });
});

it('EmbeddedEngine (built-in search engine) calls onProgress immediately with the number of missing vectors if another daemon is embedding the release', async () => {
  const both = await release();
  const { engine, search } = replica();
  await search.index(both, new AbortController().signal);
  const isMissing = new AbortController();
  const onProgress = ({ passages, embedded }: EmbedProgress) => {
    if (embedded < passages) isMissing.abort(new Error('vectors are missing'));
  };
  await whileLocked(both, async () => {
    const embedding = engine.embed(both, onProgress, isMissing.signal);
    await expect(embedding).rejects.toThrow('vectors are missing');
  });
});

it('EmbeddedEngine (built-in search engine) repairs a damaged index for both daemons', async () => {
  const both = await release();
  const [one, other] = [replica(), replica()];
  await one.search.index(both, new AbortController().signal);
  await truncate(join(both.releaseDir, 'search/keyword.sqlite'), 5_000);
  for (const { search } of [one, other]) search.switchTo(both, 'v1');
  await Promise.all([one, other].map(({ until }) => until('keyword')));
  for (const { found } of [one, other]) expect(await found('number7')).toBe('Leaf number7.');
  for (const { events } of [one, other]) expect(events.filter(({ kind }) => kind === 'failed')).toEqual([]);
  expect((await readdir(both.releaseDir)).filter((name) => name.startsWith('.search'))).toEqual([]);
});
