import { describe, expect, it } from 'vitest';
import { Fingerprints } from '../../../src/search/extract/fingerprints.ts';

describe('Fingerprints', () => {
  it('numbers different texts in the order of their coming, equal ones alike', () => {
    const fingerprints = new Fingerprints();
    expect(['a', 'b', 'a', '', 'c', 'b'].map((text) => fingerprints.numberOf(text))).toEqual([0, 1, 0, 2, 3, 1]);
    expect(fingerprints.count).toBe(4);
  });

  it('knows all of them again after it has grown many times', () => {
    const fingerprints = new Fingerprints();
    const numbers = Array.from({ length: 50_000 }, (_, at) => at);
    expect(numbers.map((at) => fingerprints.numberOf(`text ${at}`))).toEqual(numbers);
    expect(numbers.map((at) => fingerprints.numberOf(`text ${at}`))).toEqual(numbers);
    expect(fingerprints.count).toBe(50_000);
  });
});
