import { expect, it } from 'vitest';
import { bytesNeeded, linkedBytes } from '../../src/deploy/import/unpack.ts';

const file = (name: string, size: number) => ({ name, kind: 'file' as const, size });

it('bytesNeeded() adds one disk block per file, and the size of index and vectors if search is enabled', () => {
  const entries = [
    file('docs/index.html', 10_000),
    file('docs/picture.png', 50_000),
    file('_docshelf/search/sections-1.jsonl', 8_000),
    file('_docshelf/search/vectors-1.i8', 3_000),
  ];
  const listing = { entries, totalBytes: 71_000 };
  const files = 71_000 + 4 * 4_096;
  expect(bytesNeeded(listing, false)).toBe(files);
  expect(bytesNeeded(listing, true)).toBe(files + 21_000 + 3_000);
});

it('linkedBytes() adds the sizes of files that can be linked, except the largest, which needs space before a link replaces it', () => {
  const stored = (sha256: string, size: number) => ({ path: `${sha256}.bin`, sha256, size });
  const files = [stored('a', 10_000), stored('b', 50_000), stored('new', 7_000), stored('empty', 0), stored('c', 1)];
  expect(linkedBytes(files, (sha256) => (sha256 === 'new' ? null : `/there/${sha256}`))).toBe(10_001 + 2 * 4_096);
  expect(linkedBytes(files, () => null)).toBe(0);
});
