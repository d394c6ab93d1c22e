import { describe, expect, it } from 'vitest';
import { EmbedLanes } from '../../src/search/embedded-engine.ts';

const MIB = 1024 ** 2;

describe('EmbedLanes (limit of concurrent embeddings)', () => {
  it('leaves one processor core free, and allows no more concurrent embeddings than models fit in the memory', () => {
    const max = (cores: number, mib: number) => new EmbedLanes(cores, mib * MIB).max;
    expect([max(1, 4096), max(2, 4096), max(8, 4096), max(8, 384), max(8, 64)]).toEqual([1, 1, 7, 2, 1]);
  });

  it('allows one embedding at a time after the request of a reader, and the maximum again after 30 seconds', () => {
    const lanes = new EmbedLanes(8, 4096 * MIB);
    expect(lanes.now(0)).toBe(7);
    lanes.noteRead(1_000);
    expect([lanes.now(1_000), lanes.now(30_999), lanes.now(31_000)]).toEqual([1, 1, 7]);
  });
});
