import { describe, expect, it } from 'vitest';
import { normalise, pool } from '../../../src/search/semantic/model.ts';
import { POOLINGS } from '../../../src/search/semantic/model-files.ts';

describe('pool()', () => {
  /** Three tokens of two numbers. The third one is padding. */
  const hidden = Float32Array.of(1, -2, 3, 6, 100, 100);

  it.each([
    ['mean', [2, 2]],
    ['cls', [1, -2]],
    ['max', [3, 6]],
    ['mean_sqrt_len', [4 / Math.SQRT2, 4 / Math.SQRT2]],
    ['lasttoken', [3, 6]],
  ] as const)('computes the %s of the tokens without the padding', (pooling, expected) => {
    const pooled = pool(hidden, 2, 2, pooling);
    for (const [at, value] of expected.entries()) expect(pooled[at]).toBeCloseTo(value, 5);
  });

  it('supports every pooling that POOLINGS lists', () => {
    for (const pooling of POOLINGS) expect(pool(hidden, 1, 2, pooling)).toEqual(Float32Array.of(1, -2));
  });
});

describe('normalise()', () => {
  it('scales a vector to length 1, and keeps a zero vector', () => {
    expect([...normalise(Float32Array.of(3, 4))].map((value) => value.toFixed(4))).toEqual(['0.6000', '0.8000']);
    expect(normalise(new Float32Array(2))).toEqual(new Float32Array(2));
  });
});
