import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { archiveOrder, packBundle } from '../../src/archive/pack.ts';
import { BundleSearchMaker } from '../../src/search/bundle-data/bundle-search-maker.ts';
import { SEARCH_FOLDER } from '../../src/search/indexing/index-files.ts';
import type { Embedder } from '../../src/search/ports.ts';
import { EmbeddingModel } from '../../src/search/semantic/model.ts';
import { Random } from './random.ts';
import { synthetic } from './synthetic.ts';
import type { Document, TestSet } from './test-set.ts';

const MODEL = join(import.meta.dirname, '../../models/all-MiniLM-L6-v2');
const SEED = 17;
/** Typical number for a documentation site. */
export const SECTIONS_PER_PAGE = 8;
const EMBEDDED_DOCUMENTS = 256;
/** Distance of an artificial vector from the line between two real ones, which have length 1. */
const NOISE = 0.4;

/** Folders for the files of a synthetic site. */
interface SiteFolders {
  readonly siteDir: string;
  readonly searchDir: string;
}

interface SiteFile {
  /** Path in the bundle. */
  readonly path: string;
  readonly file: string;
  readonly size: number;
}

/**
 * Packs a bundle with vectors (docs/search-format.md): synthetic pages with artificial vectors, because the model would need
 * half an hour for 100,000 sections. Each vector is between those of two real documents, so that distances are realistic.
 * Results by meaning are meaningless.
 */
export async function packSynthetic(sets: readonly TestSet[], count: number, to: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'docshelf-bench-search-'));
  try {
    const folders = { siteDir: join(folder, 'site'), searchDir: join(folder, 'search') };
    const embedder = await synthesizer(sets);
    const files = await writeSite(synthetic(sets, count), embedder, folders, join(folder, 'vectors'));
    await packBundle({ entries: files.sort(archiveOrder), to, level: 1 });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Writes several sites with the same number of sections. @returns files of each site @see packSynthetic */
export async function writeSyntheticSites(
  sets: readonly TestSet[],
  sites: number,
  sectionsEach: number,
  foldersOf: (site: number) => SiteFolders,
): Promise<SiteFile[][]> {
  const documents = Array.from(synthetic(sets, sites * sectionsEach));
  const embedder = await synthesizer(sets);
  const cacheDir = mkdtempSync(join(tmpdir(), 'docshelf-bench-vectors-'));
  try {
    const all: SiteFile[][] = [];
    for (let at = 0; at < sites; at += 1) {
      const own = documents.slice(at * sectionsEach, (at + 1) * sectionsEach);
      all.push(await writeSite(own, embedder, foldersOf(at), cacheDir));
    }
    return all;
  } finally {
    rmSync(cacheDir, { recursive: true });
  }
}

async function writeSite(
  documents: Iterable<Document>,
  embedder: Embedder,
  { siteDir, searchDir }: SiteFolders,
  cacheDir: string,
): Promise<SiteFile[]> {
  for (const folder of [siteDir, searchDir]) mkdirSync(folder, { recursive: true });
  const pages = Array.from(pagesOf(documents), ([path, html]) => {
    const file = join(siteDir, path);
    writeFileSync(file, html);
    return { path, file, size: Buffer.byteLength(html) };
  });
  const { digest, dims } = embedder;
  const model = async () => ({ choice: { kind: 'parent' as const, digest, dims }, embedder });
  const files = pages.map(({ path, size }) => ({ path, size, sha256: '', type: 'text/html; charset=utf-8' }));
  const maker = new BundleSearchMaker({ model, cacheDir });
  await maker.make({ siteDir, files }, searchDir, () => undefined, new AbortController().signal);
  const search = readdirSync(searchDir).map((name) => {
    const file = join(searchDir, name);
    return { path: SEARCH_FOLDER + name, file, size: statSync(file).size };
  });
  return [...pages, ...search];
}

/** Pages with several documents: the first under the title of the page, the others under headings. */
function* pagesOf(documents: Iterable<Document>): Generator<readonly [path: string, html: string]> {
  let html = '';
  let at = 0;
  for (const { title, text } of documents) {
    const below = at % SECTIONS_PER_PAGE;
    if (below === 0 && at > 0) yield [pathOf(at - 1), html];
    const [name, paragraph] = [escaped(title), `<p>${escaped(text)}</p>`];
    if (below === 0) html = `<!doctype html><html lang="en"><title>${name}</title><h1>${name}</h1>${paragraph}`;
    else html += `<h2 id="section-${below}">${name}</h2>${paragraph}`;
    at += 1;
  }
  if (at > 0) yield [pathOf(at - 1), html];
}

const pathOf = (document: number): string => `page-${Math.floor(document / SECTIONS_PER_PAGE)}.html`;
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Claims to be the built-in model, and returns artificial vectors. */
async function synthesizer(sets: readonly TestSet[]): Promise<Embedder> {
  const model = await EmbeddingModel.load(MODEL);
  const { dims, digest } = model;
  const documents = sets.flatMap((set) => set.documents);
  const stride = Math.max(1, Math.floor(documents.length / EMBEDDED_DOCUMENTS));
  const texts = documents.filter((_, at) => at % stride === 0).map(({ text }) => text.slice(0, 800));
  const real = await model.embedPassages(texts);
  await model.close();
  const random = new Random(SEED);
  const made = (): Float32Array => {
    const [one, other, share] = [random.oneOf(real), random.oneOf(real), random.below(1_000) / 1_000];
    const between = Float32Array.from(one, (value, dim) => {
      const noise = (random.below(2_001) / 1_000 - 1) * Math.sqrt(3 / dims);
      return share * value + (1 - share) * (other[dim] as number) + NOISE * noise;
    });
    const length = Math.hypot(...between);
    return between.map((value) => value / length);
  };
  return {
    ...{ digest, dims, reads: () => true },
    embedQuery: async () => made(),
    embedPassages: async (passages) => passages.map(made),
  };
}
