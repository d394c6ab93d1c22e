import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { archiveOrder, packBundle } from '../../src/archive/pack/bundle.ts';
import { type CutSection, SEARCH_FOLDER } from '../../src/search/bundle-data/bundle-format.ts';
import { BundleSearchWriter } from '../../src/search/bundle-data/write-bundle-search.ts';
import { cutPassages } from '../../src/search/extract/index.ts';
import { estimateTokens } from '../../src/search/indexing/cut-section.ts';
import { EmbeddingModel } from '../../src/search/semantic/index.ts';
import { quantise } from '../../src/search/semantic/quantise.ts';
import { Random } from './random.ts';
import { synthetic } from './synthetic.ts';
import type { Document, TestSet } from './test-set.ts';

const MODEL = join(import.meta.dirname, '../../models/all-MiniLM-L6-v2');
const SEED = 17;
/** What a page of a documentation site has. */
export const SECTIONS_PER_PAGE = 8;
const EMBEDDED_DOCUMENTS = 256;
/** How far a made vector is from the two real ones that it lies between, beside their length of 1. */
const NOISE = 0.4;

/** Where the files of a made site go. */
interface SiteFolders {
  readonly siteDir: string;
  readonly searchDir: string;
}

interface SiteFile {
  /** In the bundle. */
  readonly path: string;
  readonly file: string;
  readonly size: number;
}

/**
 * Packs a bundle that brings its search data along (docs/search-format.md): synthetic sections, with vectors that are made up, since
 * the model would need half an hour for those of 100,000. Each lies somewhere between the vectors of two real documents, so that
 * distances spread as real ones do; what is found by meaning is of no use.
 */
export async function packSynthetic(sets: readonly TestSet[], count: number, to: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'docshelf-bench-search-'));
  try {
    const folders = { siteDir: join(folder, 'site'), searchDir: join(folder, 'search') };
    const files = writeSite(() => sectionsOf(synthetic(sets, count)), await vectorMaker(sets), folders);
    await packBundle({ entries: files.sort(archiveOrder), to, level: 1 });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** So many sites, of so many sections each. @returns the files of each @see packSynthetic */
export async function writeSyntheticSites(
  sets: readonly TestSet[],
  sites: number,
  sectionsEach: number,
  foldersOf: (site: number) => SiteFolders,
): Promise<SiteFile[][]> {
  const sections = Array.from(sectionsOf(synthetic(sets, sites * sectionsEach)));
  const vectors = await vectorMaker(sets);
  return Array.from({ length: sites }, (_, at) =>
    writeSite(() => sections.slice(at * sectionsEach, (at + 1) * sectionsEach), vectors, foldersOf(at)),
  );
}

/** @param sections the same ones each time: a million are more than memory should hold */
function writeSite(
  sections: () => Iterable<CutSection>,
  { modelDigest, dims, make }: VectorMaker,
  { siteDir, searchDir }: SiteFolders,
): SiteFile[] {
  for (const folder of [siteDir, searchDir]) mkdirSync(folder, { recursive: true });
  const pages = Array.from(pagesOf(sections()), ([path, html]) => {
    const file = join(siteDir, path);
    writeFileSync(file, html);
    return { path, file, size: Buffer.byteLength(html) };
  });
  const writer = new BundleSearchWriter(
    searchDir,
    pages.reduce((sum, { size }) => sum + size, 0),
  );
  const passages = writer.writeSections(Iterator.from(sections()).map((cut) => ({ ...cut, embedded: true })));
  writer.finish({ modelDigest, dims, all: make(passages) });
  const search = readdirSync(searchDir).map((name) => {
    const file = join(searchDir, name);
    return { path: SEARCH_FOLDER + name, file, size: statSync(file).size };
  });
  return [...pages, ...search];
}

/** Sections of a page follow each other. */
function* pagesOf(sections: Iterable<CutSection>): Generator<readonly [path: string, html: string]> {
  let page = '';
  let html = '';
  for (const { section } of sections) {
    const path = section.path.slice(1).replace(/#.*$/, '');
    if (path !== page && page !== '') yield [page, html];
    if (path !== page) html = `<!doctype html><title>${path}</title><h1>${path}</h1>`;
    page = path;
    html += `<p>${section.text}</p>`;
  }
  yield [page, html];
}

/** Pages of some sections each, one after another. */
function* sectionsOf(documents: Iterable<Document>): Generator<CutSection> {
  let pageTitle = '';
  let at = 0;
  for (const { title, text } of documents) {
    const below = at % SECTIONS_PER_PAGE;
    if (below === 0) pageTitle = title;
    const headings = below === 0 ? [pageTitle] : [pageTitle, title];
    const path = `/page-${Math.floor(at / SECTIONS_PER_PAGE)}.html${below === 0 ? '' : `#section-${below}`}`;
    const section = { path, title: pageTitle, headings, text, language: 'en', version: null, tags: [] };
    yield { section, passages: cutPassages(text, estimateTokens) };
    at += 1;
  }
}

interface VectorMaker {
  readonly modelDigest: string;
  readonly dims: number;
  /** The same ones each time. */
  make(count: number): Generator<Int8Array>;
}

async function vectorMaker(sets: readonly TestSet[]): Promise<VectorMaker> {
  const model = await EmbeddingModel.load(MODEL);
  const { dims, digest: modelDigest } = model;
  const documents = sets.flatMap((set) => set.documents);
  const stride = Math.max(1, Math.floor(documents.length / EMBEDDED_DOCUMENTS));
  const texts = documents.filter((_, at) => at % stride === 0).map(({ text }) => text.slice(0, 800));
  const real = await model.embedPassages(texts);
  await model.close();
  function* make(count: number): Generator<Int8Array> {
    const random = new Random(SEED);
    for (let at = 0; at < count; at += 1) {
      const [one, other, share] = [random.oneOf(real), random.oneOf(real), random.below(1_000) / 1_000];
      const between = Float32Array.from(one, (value, dim) => {
        const noise = (random.below(2_001) / 1_000 - 1) * Math.sqrt(3 / dims);
        return share * value + (1 - share) * (other[dim] as number) + NOISE * noise;
      });
      const length = Math.hypot(...between);
      yield quantise(between.map((value) => value / length));
    }
  }
  return { modelDigest, dims, make };
}
