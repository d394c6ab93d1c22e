import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { searchRequestOf } from '../../src/domain/search.ts';
import { EmbedProcess } from '../../src/search/indexing/embed-index.ts';
import { readPage } from '../../src/search/indexing/read-page.ts';
import { KeywordIndexWriter } from '../../src/search/keyword/index-writer.ts';
import type { Embedder } from '../../src/search/ports.ts';
import { ReleaseSearch, type SemanticParts } from '../../src/search/query/release-search.ts';
import { EmbeddingModel } from '../../src/search/semantic/model.ts';
import { type CosineScale, measureScale, VectorIndex } from '../../src/search/semantic/vector-index.ts';
import { VectorTable } from '../../src/search/semantic/vector-table.ts';
import { type SmallSite, smallSites } from '../corpus/questions.ts';
import { newFolder } from '../helpers/new-folder.ts';

const MODEL = join(import.meta.dirname, '../../models/all-MiniLM-L6-v2');

/**
 * Sites about one subject each. A question names the page of the first result. Without a fragment, any section of the page counts.
 * Several right pages are separated by bars. `null`: no result. `!`: not found.
 */
const SITES = ['notation-sites.txt', 'technical-sites.txt'].flatMap((file) => smallSites(file));

const NOISE = Array.from({ length: 12 }, (_, n) => {
  const text = `How to run, start and build part ${n} of the server: its user, its table, its type, its name and its time, in version ${n}.0, with ${n} workers.`;
  return { path: `/noise/n${n}`, title: `Topic ${n}`, text: `<p>${text}</p>` };
});

let model: { readonly embedder: EmbeddingModel; readonly scale: CosineScale };
beforeAll(async () => {
  const embedder = await EmbeddingModel.load(MODEL);
  model = { embedder, scale: await measureScale(embedder) };
});
afterAll(() => model.embedder.close());

describe.each(SITES)('search on a site about $language', ({ pages, questions }) => {
  const folder = newFolder();
  let release: ReleaseSearch;

  beforeAll(async () => {
    await writeIndex(folder, pages, model.embedder);
    release = new ReleaseSearch(folder);
  });
  afterAll(() => release.close());

  async function pathsOf(query: string, isByWords: boolean): Promise<string[]> {
    const { embedder, scale } = model;
    const load = async (): Promise<SemanticParts> => {
      const table = VectorTable.open(join(folder, 'vectors.bin'), embedder.digest);
      if (table === null) throw new Error('the vectors are missing');
      return { embedder, vectors: new VectorIndex(table, scale) };
    };
    const semantic = isByWords ? null : { digest: embedder.digest, revision: 1, load };
    const results = await release.search(
      { ...searchRequestOf({ query, pageSize: 30 }), prefixLast: true },
      'v1',
      semantic,
    );
    return results.map(({ path }) => path);
  }

  describe.each([
    ['by words', true],
    ['by words and meaning', false],
  ])('%s', (_, isByWords) => {
    it.each(questions)('returns for the query $query the first result $page', async ({ query, page }) => {
      const paths = (await pathsOf(query, isByWords)).map((path) => path.replace('.html', ''));
      if (page === 'null') expect(paths).toEqual([]);
      else if (page.startsWith('!')) expect(paths.map(pageOf)).not.toContain(page.slice(1));
      else expect(page.split('|')).toContain(page.includes('#') ? paths[0] : pageOf(paths[0] ?? ''));
    });
  });
});

const pageOf = (path: string) => path.replace(/#.*/, '');

async function writeIndex(folder: string, pages: SmallSite['pages'], embedder: Embedder): Promise<void> {
  const writer = new KeywordIndexWriter(join(folder, 'keyword.sqlite'));
  for (const { path, title, text } of [...pages, ...NOISE]) {
    const url = `${path}.html`;
    const file = url.slice(1).replace('/', '-');
    const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title} | Demo</title><main><h1>${title}</h1>${text}</main>`;
    writeFileSync(join(folder, file), html);
    const read = readPage(folder, { path: file, version: null, type: 'text/html', url });
    for (const { section, passages } of read?.sections ?? []) writer.add({ ...section, page: url }, passages);
  }
  writer.finish();
  const known = { digest: embedder.digest, load: async () => embedder };
  const order = { searchDir: folder, release: 'r', cacheDir: join(folder, 'cache'), lanesMax: 1, ignoresOthers: true };
  const embedding = new EmbedProcess(async () => known);
  const choice = { kind: 'folder', folder: dirname(MODEL) } as const;
  await embedding.embed({ ...order, model: choice }, () => undefined, new AbortController().signal);
}
