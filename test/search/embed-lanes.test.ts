import { describe, expect, it } from 'vitest';
import { embedLanes } from '../../src/search/embedded-engine.ts';

const MIB = 1024 ** 2;

describe('embedLanes() (number of texts to embed at once)', () => {
  it('leaves one processor core free, and allows no more concurrent embeddings than models fit in the memory', () => {
    const max = (cores: number, mib: number) => embedLanes(cores, mib * MIB);
    expect([max(1, 4096), max(2, 4096), max(8, 4096), max(8, 384), max(8, 64)]).toEqual([1, 1, 7, 2, 1]);
  });
});
