import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PostingsBuilder, readPostings } from '../../../src/search/keyword/postings.ts';

const count = fc.integer({ min: 0, max: 300 });
const counts = fc.tuple(count, count, count, count).filter((each) => each.some((number) => number > 0));
const sections = fc.uniqueArray(fc.record({ section: fc.nat(200_000), counts }), {
  selector: ({ section }) => section,
  maxLength: 40,
});

function bytesOf(entries: readonly { section: number; counts: readonly number[] }[]) {
  const builder = new PostingsBuilder();
  for (const entry of entries)
    for (const [column, times] of entry.counts.entries())
      for (let time = 0; time < times; time += 1) builder.count(entry.section, column);
  return { sections: builder.sections, list: builder.bytes() };
}

describe('readPostings() (sections that contain an indexed word)', () => {
  it('reads the same postings that were written, also if they are split into several byte sequences', () => {
    fc.assert(
      fc.property(sections, fc.nat(40), (unsorted, cut) => {
        const entries = unsorted.toSorted((left, right) => left.section - right.section);
        const read: [number, number[]][] = [];
        const runs = [entries.slice(0, cut), entries.slice(cut)].map(bytesOf);
        const postings = readPostings(runs, 200_001, (section, ...each) => {
          read.push([section, each]);
          return 1;
        });
        expect([...postings.sections]).toEqual(entries.map(({ section }) => section));
        expect(read).toEqual(entries.map((entry) => [entry.section, entry.counts]));
      }),
      { numRuns: 50 },
    );
  });

  it.each<[string, { sections: number; list: Uint8Array }]>([
    ['that end within a number', { sections: 1, list: Uint8Array.of(0x83) }],
    ['of a section that does not exist', { sections: 1, list: Uint8Array.of(0x7f) }],
    ['of more sections than their count states', { sections: 1, list: Uint8Array.of(3, 3) }],
    ['of fewer sections than their count states', { sections: 2, list: Uint8Array.of(3) }],
    ['with endless numbers', { sections: 1, list: new Uint8Array(40).fill(0xff) }],
  ])('rejects invalid bytes %s', (_, run) => {
    expect(() => readPostings([run], 10, () => 1)).toThrow(expect.objectContaining({ code: 'index_damaged' }));
  });

  it('rejects byte sequences whose section numbers do not increase', () => {
    const run = { sections: 1, list: Uint8Array.of(3) };
    expect(() => readPostings([run, run], 10, () => 1)).toThrow(expect.objectContaining({ code: 'index_damaged' }));
  });
});
