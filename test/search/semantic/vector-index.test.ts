import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalise } from '../../../src/search/semantic/model.ts';
import { COMMON_SCALE, quantise, signBits, VectorIndex } from '../../../src/search/semantic/vector-index.ts';
import { memoryRows } from './memory-rows.ts';

const DIMS = 64;
/** The same vectors in every run. */
function vectorsOf(count: number, seed = 1): Float32Array[] {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state / 0x40000000 - 1;
  };
  return Array.from({ length: count }, () => normalise(Float32Array.from({ length: DIMS }, next)));
}
function indexOf(vectors: readonly Float32Array[], sections = vectors.map((_, at) => at)): VectorIndex {
  const values = new Int8Array(vectors.length * DIMS);
  vectors.forEach((vector, at) => {
    values.set(quantise(vector), at * DIMS);
  });
  return new VectorIndex(memoryRows(values, DIMS, sections), COMMON_SCALE);
}
/** By cosine, best first. Among equals, the lower number is first. */
const ranked = (hits: ReturnType<VectorIndex['search']>) =>
  Array.from(hits, ([section, hit]) => ({ section, ...hit })).sort(
    (one, other) => other.cosine - one.cosine || one.section - other.section,
  );
const cosine = (one: Float32Array, other: Float32Array) =>
  one.reduce((sum, value, at) => sum + value * (other[at] as number), 0);

describe('VectorIndex.search()', () => {
  const vectors = vectorsOf(500);
  const query = vectorsOf(1, 99)[0] as Float32Array;

  it('finds the same sections as a comparison with every vector if the limit equals the number of vectors', () => {
    const exact = vectors.map((vector, section) => ({ section, cosine: cosine(query, vector) }));
    exact.sort((one, other) => other.cosine - one.cosine);
    const hits = ranked(indexOf(vectors).search(query, { limit: 500, allowed: null }));
    expect(hits).toHaveLength(500);
    expect(hits[0]?.section).toBe(exact[0]?.section);
    for (const [at, hit] of hits.entries()) expect(Math.abs(hit.cosine - (exact[at]?.cosine ?? 9))).toBeLessThan(0.02);
  });

  it('finds the section whose vector equals the query, with a limit of 1', () => {
    const index = indexOf(vectors);
    for (const section of [0, 250, 499]) {
      const found = index.search(vectors[section] as Float32Array, { limit: 1, allowed: null });
      const [hit, ...others] = ranked(found);
      expect(hit?.section).toBe(section);
      expect(hit?.cosine).toBeGreaterThan(0.99);
      expect(others).toEqual([]);
    }
  });

  it('scores exactly as many passages as the limit states, even if all distances are equal', () => {
    const same = Array.from({ length: 50 }, () => vectors[0] as Float32Array);
    const hits = indexOf(same).search(vectors[0] as Float32Array, { limit: 7, allowed: null });
    expect([...hits.keys()]).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it('finds only sections that the filter allows, even if fewer sections than the limit are allowed', () => {
    const hits = indexOf(vectors).search(query, {
      limit: 10,
      allowed: Uint8Array.from(vectors, (_, at) => Number(at >= 497)),
    });
    expect([...hits.keys()].sort()).toEqual([497, 498, 499]);
    expect(indexOf(vectors).search(query, { limit: 10, allowed: new Uint8Array(500) }).size).toBe(0);
  });

  it('represents a section by its best passage', () => {
    const [a, b, c] = vectors as [Float32Array, Float32Array, Float32Array];
    const index = indexOf([a, b, c], [4, 4, 7]);
    const hits = index.search(b, { limit: 3, allowed: null });
    expect([...hits.keys()].sort()).toEqual([4, 7]);
    expect(hits.get(4)).toMatchObject({ passage: 1 });
  });

  it('returns a score for each section that the keyword search found, by the best passage of the section', () => {
    const [a, b, c] = vectors as [Float32Array, Float32Array, Float32Array];
    const index = indexOf([a, b, c], [4, 4, 7]);
    const hits = index.search(c, { limit: 1, allowed: null, also: [4, 5, 7, 99] });
    expect([...hits.keys()].sort()).toEqual([4, 7]);
    expect(hits.get(4)?.cosine).toBeCloseTo(Math.max(cosine(a, c), cosine(b, c)), 1);
    const none = new Uint8Array(8);
    expect([...index.search(c, { limit: 1, allowed: none, also: [4] }).keys()]).toEqual([4]);
  });

  it('finds only sections that have a vector, and finds new vectors after refresh()', () => {
    const values = new Int8Array(3 * DIMS);
    const [a, b] = vectors as [Float32Array, Float32Array];
    values.set(quantise(a), DIMS);
    const index = new VectorIndex(memoryRows(values, DIMS), COMMON_SCALE);
    const found = () => [...index.search(b, { limit: 3, allowed: null, also: [0] }).keys()];
    expect(found()).toEqual([1]);
    values.set(quantise(b), 0);
    expect(found()).toEqual([1]);
    index.refresh();
    expect(found().sort()).toEqual([0, 1]);
  });

  it('finds no sections in an empty index', () => {
    expect(indexOf([]).search(query, { limit: 5, allowed: null, also: [0] }).size).toBe(0);
  });
});

describe('cosine scale of VectorIndex', () => {
  it('maps the cosines of a model to the common scale', () => {
    const [one, two] = vectorsOf(2) as [Float32Array, Float32Array];
    const own = cosine(one, two);
    const values = quantise(two);
    const index = new VectorIndex(memoryRows(values, DIMS), { related: 0.9, unrelated: own });
    const hit = index.search(one, { limit: 1, allowed: null }).get(0);
    expect(Math.abs((hit?.cosine ?? 9) - COMMON_SCALE.unrelated)).toBeLessThan(0.02);
  });
});

describe('signBits()', () => {
  it('sets a bit for each number above zero', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -127, max: 127 }), { minLength: 64, maxLength: 64 }), (numbers) => {
        const bits = signBits(Int8Array.from(numbers));
        const back = numbers.map((_, at) => ((bits[at >> 5] as number) >>> (at & 31)) & 1);
        expect(back).toEqual(numbers.map((number) => (number > 0 ? 1 : 0)));
      }),
    );
  });
});
