import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Fingerprints } from '../../src/search/compact.ts';

describe('Fingerprints', () => {
  it('numbers different texts in the order of their coming, equal ones alike', () => {
    const fingerprints = new Fingerprints();
    expect(['a', 'b', 'a', '', 'c', 'b'].map((text) => fingerprints.numberOf(text))).toEqual([0, 1, 0, 2, 3, 1]);
    expect(fingerprints.count).toBe(4);
  });

  it('finds a text by its fingerprint, and gives those of all', () => {
    const fingerprints = new Fingerprints();
    const [a, b, c] = ['a', 'b', 'c'].map((text) => hash('sha256', text, 'buffer'));
    for (const each of [a, b]) fingerprints.add(each as Buffer);
    expect([a, b, c].map((each) => fingerprints.find(each as Buffer))).toEqual([0, 1, null]);
    expect(Buffer.from(fingerprints.bytes)).toEqual(
      Buffer.concat([a as Buffer, b as Buffer].map((each) => each.subarray(0, 16))),
    );
  });

  it('knows all of them again after it has grown many times', () => {
    const fingerprints = new Fingerprints();
    const numbers = Array.from({ length: 50_000 }, (_, at) => at);
    expect(numbers.map((at) => fingerprints.numberOf(`text ${at}`))).toEqual(numbers);
    expect(numbers.map((at) => fingerprints.numberOf(`text ${at}`))).toEqual(numbers);
    expect(fingerprints.count).toBe(50_000);
  });
});
