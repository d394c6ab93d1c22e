import { describe, expect, it, onTestFinished } from 'vitest';
import { KeywordIndex } from '../../src/search/keyword/keyword-index.ts';
import type { Embedder } from '../../src/search/ports.ts';
import { SemanticLeg } from '../../src/search/query/release-search.ts';
import { COMMON_SCALE, VectorIndex } from '../../src/search/semantic/vector-index.ts';
import { indexPath, writeIndex } from './keyword/index-folder.ts';
import { memoryRows } from './semantic/memory-rows.ts';

const DIMS = 32;
const vector = (sign: number) => new Float32Array(DIMS).fill(sign / Math.sqrt(DIMS));

interface Faked {
  readonly fails?: boolean;
  /** Receives the queries. */
  readonly queries?: string[];
}

/** Reads Latin script, and treats each query as similar to section 0. */
const embedder = ({ fails = false, queries = [] }: Faked): Embedder => ({
  digest: '',
  dims: DIMS,
  reads: (language) => language === null || ['en', 'und-Latn'].includes(language),
  embedQuery: async (text) => {
    queries.push(text);
    if (fails) throw new Error('no answer');
    return vector(1);
  },
  embedPassages: async () => [],
});

/** Sections 0 and 1 are English, 2 is Japanese, 3 is empty. Each has one passage, and all except 1 are similar to the query. */
function leg(faked: Faked = {}): SemanticLeg {
  const path = indexPath();
  const sketches = ['en', 'en', 'ja', null].map((language) => ({ language }));
  writeIndex(path, sketches, () => [{ start: 0, end: 9 }]);
  const keyword = new KeywordIndex(path);
  onTestFinished(() => keyword.close());
  const values = Int8Array.from([1, -1, 1, 1].flatMap((sign) => Array.from({ length: DIMS }, () => sign * 90)));
  const vectors = memoryRows(values, DIMS);
  const model = embedder(faked);
  const readable = keyword.readable((language) => model.reads(language));
  return new SemanticLeg(model, new VectorIndex(vectors, COMMON_SCALE), readable);
}
const QUERY = vector(1);
const sectionsOf = (args: number[], options: { readonly allowed: Uint8Array | null; readonly limit: number }) => [
  ...leg().nearest(QUERY, args, options).keys(),
];

describe('SemanticLeg.nearest() (sections near the query in meaning)', () => {
  it('finds only sections in a language that the model can read', () => {
    expect(sectionsOf([], { allowed: null, limit: 2 })).toEqual([0, 3]);
  });

  it('returns a score for each section that the keyword search found, except sections that the model cannot read', () => {
    expect(sectionsOf([0, 1, 2], { allowed: null, limit: 1 })).toEqual([0, 1]);
    const far = leg().nearest(QUERY, [1], { allowed: null, limit: 1 }).get(1);
    expect(far?.cosine).toBeLessThan(0);
  });

  it('finds no section that the filter excludes', () => {
    expect(sectionsOf([], { allowed: Uint8Array.of(0, 1, 1, 1), limit: 9 })).toEqual([1, 3]);
  });
});

describe('SemanticLeg.read() (vector of a query)', () => {
  it('calls the model immediately, so that the caller can continue while the model works', async () => {
    const queries: string[] = [];
    const reading = leg({ queries: queries }).read('keys');
    expect(queries).toEqual(['keys']);
    expect(await reading).toEqual(QUERY);
  });

  it('returns null if the model cannot read the query or fails', async () => {
    expect(await leg().read('鍵の交換')).toBeNull();
    expect(await leg({ fails: true }).read('keys')).toBeNull();
  });
});
