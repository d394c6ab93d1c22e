import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OUT, VectorKernel } from '../../../src/search/semantic/vector-index.ts';
import { memoryRows } from './memory-rows.ts';

/** Vectors of 32, 64 and 96 numbers, whose sign bits fill their last word of 64 or do not. */
const cases = fc.integer({ min: 1, max: 3 }).chain((words) => {
  const dims = 32 * words;
  const vector = fc.int8Array({ minLength: dims, maxLength: dims });
  return fc.record({
    dims: fc.constant(dims),
    vectors: fc.array(vector, { maxLength: 9 }),
    query: fc.float32Array({ minLength: dims, maxLength: dims, noNaN: true, noDefaultInfinity: true, min: -1, max: 1 }),
  });
});
const joined = (vectors: readonly Int8Array[]) => Int8Array.from(vectors.flatMap((vector) => [...vector]));

function differingSigns(query: Float32Array, vector: Int8Array): number {
  return vector.reduce((sum, value, dim) => sum + Number(value > 0 !== (query[dim] as number) > 0), 0);
}

const isEmpty = (vector: Int8Array): boolean => vector.every((value) => value === 0);

/** In the order of addition that the kernel guarantees. */
function cosine(query: Float32Array, vector: Int8Array): number {
  if (isEmpty(vector)) return Number.NEGATIVE_INFINITY;
  const sum = vector.reduce((before, value, dim) => before + (query[dim] as number) * value, 0);
  const squares = vector.reduce((before, value) => before + value * value, 0);
  return sum / Math.sqrt(squares);
}

describe('distances() of sign bits', () => {
  it('counts the differing signs of every vector', () => {
    fc.assert(
      fc.property(cases, ({ dims, vectors, query }) => {
        const kernel = new VectorKernel(memoryRows(joined(vectors), dims));
        const expected = vectors.map((vector) => (isEmpty(vector) ? OUT : differingSigns(query, vector)));
        expect([...kernel.distances(query)]).toEqual(expected);
      }),
    );
  });

  it('resets the distances for each query', () => {
    const kernel = new VectorKernel(memoryRows(new Int8Array(64).fill(1), 32));
    expect([...kernel.distances(new Float32Array(32).fill(-1))]).toEqual([32, 32]);
    expect([...kernel.distances(new Float32Array(32).fill(1))]).toEqual([0, 0]);
  });
});

describe('cosines() of a query vector and stored vectors', () => {
  it('adds in a fixed order, so that equal vectors get exactly equal scores', () => {
    fc.assert(
      fc.property(cases, ({ dims, vectors, query }) => {
        const numbers = vectors.map((_, at) => at).reverse();
        const expected = numbers.map((at) => cosine(query, vectors[at] as Int8Array));
        // An empty sum is 0 or -0, which are the same cosine.
        const found = new VectorKernel(memoryRows(joined(vectors), dims)).cosines(query, numbers);
        expect(found.map((value) => value + 0)).toEqual(expected.map((value) => value + 0));
      }),
    );
  });

  it('accepts more vectors than fit in one batch, including repeated vectors', () => {
    const count = 700;
    const values = Int8Array.from({ length: count * 32 }, (_, at) => (at * 31) % 255);
    const query = Float32Array.from({ length: 32 }, (_, dim) => dim / 7 - 2);
    const numbers = [...Array.from({ length: count }, (_, at) => count - 1 - at), 3, 3];
    const expected = numbers.map((at) => cosine(query, values.subarray(at * 32, (at + 1) * 32)));
    expect(new VectorKernel(memoryRows(values, 32)).cosines(query, numbers)).toEqual(expected);
  });
});
