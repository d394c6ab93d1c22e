import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Fingerprints } from '../../src/search/compact.ts';

describe('Fingerprints (numbered set of text hashes)', () => {
  it('numbers distinct texts in order of arrival, with one number for equal texts', () => {
    const fingerprints = new Fingerprints();
    expect(['a', 'b', 'a', '', 'c', 'b'].map((text) => fingerprints.numberOf(text))).toEqual([0, 1, 0, 2, 3, 1]);
    expect(fingerprints.count).toBe(4);
  });

  it('finds the number of a fingerprint, and returns the bytes of all fingerprints', () => {
    const fingerprints = new Fingerprints();
    const [a, b, c] = ['a', 'b', 'c'].map((text) => hash('sha256', text, 'buffer'));
    for (const each of [a, b]) fingerprints.add(each as Buffer);
    expect([a, b, c].map((each) => fingerprints.find(each as Buffer))).toEqual([0, 1, null]);
    expect(Buffer.from(fingerprints.bytes)).toEqual(
      Buffer.concat([a as Buffer, b as Buffer].map((each) => each.subarray(0, 16))),
    );
  });

  it('still finds all texts after its table has grown many times', () => {
    const fingerprints = new Fingerprints();
    const numbers = Array.from({ length: 50_000 }, (_, at) => at);
    expect(numbers.map((at) => fingerprints.numberOf(`text ${at}`))).toEqual(numbers);
    expect(numbers.map((at) => fingerprints.numberOf(`text ${at}`))).toEqual(numbers);
    expect(fingerprints.count).toBe(50_000);
  });
});
