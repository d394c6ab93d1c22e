import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CutSection, SEARCH_FOLDER } from '../../src/search/bundle-data/bundle-format.ts';
import { BundleSearchWriter } from '../../src/search/bundle-data/write-bundle-search.ts';
import { cutPassages } from '../../src/search/extract/index.ts';
import { estimateTokens } from '../../src/search/indexing/site-sections.ts';
import { EmbeddingModel } from '../../src/search/semantic/index.ts';
import { quantise } from '../../src/search/semantic/quantise.ts';
import { packTarGz } from '../../test/helpers/pack-tar-gz.ts';
import { Random } from './random.ts';
import { synthetic } from './synthetic.ts';
import type { Document, TestSet } from './test-set.ts';

const MODEL = join(import.meta.dirname, '../../models/all-MiniLM-L6-v2');
const SEED = 17;
/** What a page of a documentation site has. */
export const SECTIONS_PER_PAGE = 8;
/** Of `synthetic`: their text is little longer than a passage may be. */
const PASSAGES_PER_SECTION_MAX = 4;
const EMBEDDED_DOCUMENTS = 256;
/** How far a made vector is from the two real ones that it lies between, beside their length of 1. */
const NOISE = 0.4;

/**
 * Packs a bundle that brings its search data along (docs/search-format.md): synthetic sections, with vectors that are made up, since
 * the model would need half an hour for those of 100,000. Each lies somewhere between the vectors of two real documents, so that
 * distances spread as real ones do; what is found by meaning is of no use.
 */
export async function packSynthetic(sets: readonly TestSet[], count: number, to: string): Promise<void> {
  const [files = []] = await syntheticSites(sets, 1, count);
  await packTarGz({ files, to });
}

/** The files of so many sites, of so many sections each. @see packSynthetic */
export async function syntheticSites(sets: readonly TestSet[], sites: number, sectionsEach: number) {
  const sections = Array.from(sectionsOf(synthetic(sets, sites * sectionsEach)));
  const vectors = await madeVectors(sets, PASSAGES_PER_SECTION_MAX * sectionsEach);
  return Array.from({ length: sites }, (_, at) =>
    filesOf(sections.slice(at * sectionsEach, (at + 1) * sectionsEach), vectors),
  );
}

interface SiteFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

function filesOf(sections: readonly CutSection[], made: Awaited<ReturnType<typeof madeVectors>>): SiteFile[] {
  const byPage = Map.groupBy(sections, ({ section }) => section.path.slice(1).replace(/#.*$/, ''));
  const pages = Array.from(byPage, ([path, own]) => {
    const text = own.map(({ section }) => `<p>${section.text}</p>`).join('');
    return { path, bytes: Buffer.from(`<!doctype html><title>${path}</title><h1>${path}</h1>${text}`) };
  });
  const into = mkdtempSync(join(tmpdir(), 'docshelf-bench-search-'));
  try {
    const writer = new BundleSearchWriter(
      into,
      pages.reduce((sum, { bytes }) => sum + bytes.length, 0),
    );
    const passages = writer.writeSections(sections.map((cut) => ({ ...cut, embedded: true })));
    const { modelDigest, dims, values } = made;
    const all = Array.from({ length: passages }, (_, at) => values.subarray(at * dims, (at + 1) * dims));
    writer.finish({ modelDigest, dims, all });
    const search = readdirSync(into).map((name) => ({
      path: SEARCH_FOLDER + name,
      bytes: readFileSync(join(into, name)),
    }));
    return [...pages, ...search];
  } finally {
    rmSync(into, { recursive: true });
  }
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

async function madeVectors(sets: readonly TestSet[], count: number) {
  const model = await EmbeddingModel.load(MODEL);
  const { dims, digest: modelDigest } = model;
  const documents = sets.flatMap((set) => set.documents);
  const stride = Math.max(1, Math.floor(documents.length / EMBEDDED_DOCUMENTS));
  const texts = documents.filter((_, at) => at % stride === 0).map(({ text }) => text.slice(0, 800));
  const real = await model.embedPassages(texts);
  await model.close();
  const random = new Random(SEED);
  const values = new Int8Array(count * dims);
  for (let at = 0; at < count; at += 1) {
    const [one, other, share] = [random.oneOf(real), random.oneOf(real), random.below(1_000) / 1_000];
    const between = Float32Array.from(one, (value, dim) => {
      const noise = (random.below(2_001) / 1_000 - 1) * Math.sqrt(3 / dims);
      return share * value + (1 - share) * (other[dim] as number) + NOISE * noise;
    });
    const length = Math.hypot(...between);
    values.set(quantise(between.map((value) => value / length)), at * dims);
  }
  return { modelDigest, dims, values };
}
