import { hash } from 'node:crypto';
import { copyFile, mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BundleSearchMaker } from '../../src/search/bundle-data/bundle-search-maker.ts';
import { EmbeddedEngine } from '../../src/search/index.ts';
import type { Embedder } from '../../src/search/ports.ts';
import { VectorCache } from '../../src/search/semantic/vector-cache.ts';
import { VectorTable } from '../../src/search/semantic/vector-table.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { searchOf, writePages } from './searched-site.ts';

const NEVER = new AbortController().signal;
const DIMS = 32;
const [MODEL, OTHER_MODEL] = ['ab'.repeat(32), 'cd'.repeat(32)];
const [HEADER, VECTORS] = ['header.json', 'vectors-1.bin'];

let dir: string;
let engine: EmbeddedEngine;
/** Passages that the deployment's model embedded. */
let embedded: string[];

beforeEach(async () => {
  dir = newFolder();
  embedded = [];
  start();
});
afterEach(async () => {
  await engine.stop();
});

/** Vectors depend on the text and on `turn`, so that a test sees which model computed them. */
function modelOf(turn: number, onTexts: (texts: readonly string[]) => void = () => undefined, digest = MODEL) {
  const vectorOf = (text: string) =>
    Float32Array.from(hash('sha256', `${turn} ${text}`, 'buffer'), (byte) => (byte - 127) / 700);
  const embedder: Embedder = {
    ...{ digest, dims: DIMS, reads: () => true },
    embedQuery: async (text) => vectorOf(text),
    embedPassages: async (texts) => {
      onTexts(texts);
      return texts.map(vectorOf);
    },
  };
  return async () => ({ choice: { kind: 'parent' as const, digest, dims: DIMS }, embedder });
}

function start(digest?: string): void {
  engine = new EmbeddedEngine({
    // The engine also embeds some texts to measure a model.
    model: modelOf(1, (texts) => embedded.push(...texts.filter((text) => text.includes('.html'))), digest),
    cacheDir: join(dir, 'vectors'),
    memoryBytesMax: 384 * 1024 ** 2,
  });
}

async function restart(): Promise<void> {
  await engine.stop();
  start();
}

const PAGES = {
  'a.html': 'Lantern of the coast.',
  'b.html': 'Bread and butter.',
  'c.html': 'Lantern of the coast again.',
};
const searchFolder = ({ releaseDir }: { releaseDir: string }) => join(releaseDir, '_docshelf/search');

/** A release as it is unpacked, with the vectors of another model that says to be the same. */
async function newRelease(
  name: string,
  { pages = PAGES, turn = 2 }: { pages?: Record<string, string>; turn?: number } = {},
) {
  const releaseDir = join(dir, 'releases', hash('sha256', name));
  const files = await writePages(
    releaseDir,
    Object.fromEntries(
      Object.entries(pages).map(([path, text]) => [
        path,
        `<!doctype html><title>${path}</title><main><h1>${path}</h1><p>${text}</p></main>`,
      ]),
    ),
  );
  const release = { digest: hash('sha256', name), releaseDir, trailingSlash: 'never' as const };
  await mkdir(searchFolder(release), { recursive: true });
  const maker = new BundleSearchMaker({ model: modelOf(turn), cacheDir: join(dir, `vectors-of-export-${name}`) });
  await maker.make({ siteDir: join(releaseDir, 'site'), files }, searchFolder(release), () => undefined, NEVER);
  return release;
}
type Release = Awaited<ReturnType<typeof newRelease>>;

/** Serves a release until search by meaning is ready. */
async function serve(release: Release) {
  const { search, events, found, until } = searchOf(engine, { isSemantic: true });
  search.switchTo(release, 'v1');
  await until('semantic');
  const refusals = events.flatMap((event) => (event.kind === 'refused' ? [event.error.code] : []));
  return { search, refusals, status: search.status, best: await found('lantern') };
}

function vectorsOf({ releaseDir }: Release, digest = MODEL): string[] {
  const table = VectorTable.open(join(releaseDir, 'search/vectors.bin'), digest);
  if (table === null) throw new Error('there is no table');
  try {
    return Array.from(table.sections, (_, row) => `${table.get(row)}`);
  } finally {
    table.close();
  }
}

/** Vectors that all releases share. */
function cached(digest = MODEL): string[] {
  const cache = new VectorCache(join(dir, 'vectors'), { digest, dims: DIMS });
  try {
    return Array.from(cache.records(), ({ vector }) => `${vector}`);
  } finally {
    cache.close();
  }
}

async function computedBy(turn: number): Promise<string[]> {
  const other = await newRelease(`computed by ${turn}`, { turn });
  await serve(other);
  const vectors = vectorsOf(other);
  embedded = [];
  return vectors;
}

describe('vectors of a bundle', { timeout: 120_000 }, () => {
  it('are used for the release, so that the model embeds no text of this release', async () => {
    const release = await newRelease('one');
    const { search, status, refusals, best } = await serve(release);
    expect(embedded).toEqual([]);
    expect(status).toMatchObject({ keyword: 'ready', semantic: 'ready', sections: 3, embedded: 3 });
    expect([search.notices, refusals, best]).toEqual([[], [], expect.stringContaining('Lantern')]);
    const [keys, dims] = [32, DIMS];
    const bytes = await readFile(join(searchFolder(release), VECTORS));
    const carried = Array.from({ length: 3 }, (_, at) => {
      return `${new Int8Array(bytes.subarray(at * (keys + dims) + keys, (at + 1) * (keys + dims)))}`;
    });
    expect(vectorsOf(release)).toEqual(carried);
  });

  it('are not used for another release and are not added to the cache', async () => {
    const hostile = await newRelease('hostile');
    await serve(hostile);
    expect(cached()).toEqual([]);
    // The same pages in a bundle without vectors.
    const honest = await newRelease('honest', { turn: 1 });
    const own = await computedBy(1);
    await rm(searchFolder(honest), { recursive: true });
    await serve(honest);
    expect(embedded).toHaveLength(3);
    expect(vectorsOf(honest)).toEqual(own);
    expect(vectorsOf(hostile)).not.toEqual(own);
    expect(new Set(cached())).toEqual(new Set(own));
  });

  it('make the model embed only the texts for which the bundle contains no vector', async () => {
    const release = await newRelease('part');
    const more = await newRelease('more', { pages: { ...PAGES, 'd.html': 'A new page.' } });
    for (const name of [HEADER, VECTORS]) {
      await copyFile(join(searchFolder(release), name), join(searchFolder(more), name));
    }
    await serve(more);
    expect(embedded).toEqual([expect.stringContaining('A new page.')]);
  });

  it('are ignored without a notice if another model created them', async () => {
    const release = await newRelease('one');
    await engine.stop();
    start(OTHER_MODEL);
    const { search, refusals } = await serve(release);
    expect([embedded.length, search.notices, refusals]).toEqual([3, [], []]);
  });

  it('are ignored without a notice if their format is older', async () => {
    const release = await newRelease('one');
    const header = { formatVersion: 2, sections: { count: 0, shards: [] }, vectors: null };
    await writeFile(join(searchFolder(release), HEADER), JSON.stringify(header));
    const { search, refusals } = await serve(release);
    expect([embedded.length, search.notices, refusals]).toEqual([3, [], []]);
  });

  it.each<[string, (folder: string) => Promise<void>]>([
    [
      'a damaged vector',
      async (folder) => {
        const bytes = await readFile(join(folder, VECTORS));
        bytes[100] = (bytes[100] ?? 0) ^ 1;
        await writeFile(join(folder, VECTORS), bytes);
      },
    ],
    ['a shortened shard', (folder) => truncate(join(folder, VECTORS), 64)],
    ['a missing shard', (folder) => rm(join(folder, VECTORS))],
    ['a later format', (folder) => writeFile(join(folder, HEADER), '{"formatVersion":4}')],
    ['a header that is not JSON', (folder) => writeFile(join(folder, HEADER), '{')],
  ])(
    'are replaced by vectors of the model if they have %s, and a notice for the operator states this',
    async (_, damage) => {
      const release = await newRelease('one');
      await damage(searchFolder(release));
      const first = await serve(release);
      expect([first.best, embedded.length]).toEqual([expect.stringContaining('Lantern'), 3]);
      expect(first.refusals).toEqual(['bad_search_data']);
      expect(first.search.notices).toEqual([
        expect.stringMatching(/search data.*\(bad_search_data\)\. docshelf computes the vectors again/),
      ]);

      await restart();
      const second = await serve(release);
      expect(second.search.notices).toEqual(first.search.notices);
      expect([second.refusals, embedded.length]).toEqual([[], 3]);
      second.search.close();
      expect(second.search.notices).toEqual([]);
    },
  );

  it('are computed again by the model if they are damaged after the index was built', async () => {
    const release = await newRelease('one');
    await engine.build(release, NEVER);
    await truncate(join(searchFolder(release), VECTORS), 64);
    expect((await serve(release)).status).toMatchObject({ semantic: 'ready', embedded: 3 });
    expect(embedded).toHaveLength(3);
  });
});
