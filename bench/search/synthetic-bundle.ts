import { join } from 'node:path';
import type { CutSection } from '../../src/search/bundle-data/bundle-format.ts';
import { encodeBundleSearch } from '../../src/search/bundle-data/encode-bundle-search.ts';
import { cutPassages } from '../../src/search/extract/index.ts';
import { estimateTokens } from '../../src/search/indexing/site-sections.ts';
import { EmbeddingModel } from '../../src/search/semantic/index.ts';
import { quantise } from '../../src/search/semantic/quantise.ts';
import { packTarGz } from '../../test/helpers/pack-tar-gz.ts';
import { Random } from './random.ts';
import { synthetic } from './synthetic.ts';
import type { TestSet } from './test-set.ts';

const MODEL = join(import.meta.dirname, '../../models/all-MiniLM-L6-v2');
const SEED = 17;
/** What a page of a documentation site has. */
const SECTIONS_PER_PAGE = 8;
const EMBEDDED_DOCUMENTS = 256;
/** How far a made vector is from the two real ones that it lies between, beside their length of 1. */
const NOISE = 0.4;

/**
 * Packs a bundle that brings its search data along (docs/search-format.md): synthetic sections, with vectors that are made up, since
 * the model would need half an hour for those of 100,000. Each lies somewhere between the vectors of two real documents, so that
 * distances spread as real ones do; what is found by meaning is of no use.
 */
export async function packSynthetic(sets: readonly TestSet[], count: number, to: string): Promise<void> {
  const sections: CutSection[] = [];
  const pages: { path: string; bytes: Uint8Array }[] = [];
  let pageTitle = '';
  for (const { title, text } of synthetic(sets, count)) {
    const below = sections.length % SECTIONS_PER_PAGE;
    const page = `page-${Math.floor(sections.length / SECTIONS_PER_PAGE)}.html`;
    if (below === 0) {
      pageTitle = title;
      pages.push({ path: page, bytes: Buffer.from(`<!doctype html><title>${page}</title><h1>${page}</h1>`) });
    }
    const headings = below === 0 ? [pageTitle] : [pageTitle, title];
    const path = `/${page}${below === 0 ? '' : `#section-${below}`}`;
    const section = { path, title: pageTitle, headings, text, language: 'en', version: null, tags: [] };
    sections.push({ section, passages: cutPassages(text, estimateTokens) });
  }
  const owners = sections.flatMap(({ passages }, at) => passages.map(() => at));
  const vectors = { ...(await madeVectors(sets, owners.length)), sections: Uint32Array.from(owners) };
  const pieces = Map.groupBy(encodeBundleSearch({ sections, vectors }), ({ path }) => path);
  const search = Array.from(pieces, ([path, all]) => ({ path, bytes: Buffer.concat(all.map(({ bytes }) => bytes)) }));
  await packTarGz({ files: [...pages, ...search], to });
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
