import {
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { ROWS_MAX, VectorTable } from '../../../src/search/semantic/vector-table.ts';
import { newFolder } from '../../helpers/new-folder.ts';

const MODEL = 'ab'.repeat(32);
const DIMS = 32;
const KEY = 'cd'.repeat(12);
const SECTIONS = Uint32Array.of(0, 0, 3);
const vectorOf = (row: number) => Int8Array.from({ length: DIMS }, (_, at) => row * DIMS + at - 48);

let folder: string;
let file: string;
beforeEach(async () => {
  folder = newFolder();
  file = join(folder, 'vectors.bin');
});

function create(...rows: number[]): void {
  const table = VectorTable.create(file, { modelDigest: MODEL, dims: DIMS, key: KEY }, SECTIONS);
  for (const row of rows) table.put(row, vectorOf(row));
  table.flush();
  table.close();
}

function read(modelDigest = MODEL) {
  const table = VectorTable.open(file, modelDigest);
  if (table === null) return null;
  const rows = Array.from(table.rows(), ([row, vector]) => [row, vector.slice()] as const);
  const { key, sections } = table;
  table.close();
  return { key, sections, rows };
}

describe('VectorTable (file with the vectors of a release)', () => {
  it('does not open a table through a symbolic link', () => {
    create(0);
    const theirs = join(folder, 'theirs.bin');
    renameSync(file, theirs);
    symlinkSync(theirs, file);
    expect(VectorTable.open(file, MODEL, 'r+')).toBeNull();
    expect(VectorTable.open(file, MODEL)).toBeNull();
    create(1);
    expect(lstatSync(file).isSymbolicLink()).toBe(false);
  });

  it('returns the stored rows in order, and leaves no other file', () => {
    create(2, 0);
    expect(read()).toEqual({
      key: KEY,
      sections: SECTIONS,
      rows: [
        [0, vectorOf(0)],
        [2, vectorOf(2)],
      ],
    });
    expect(readdirSync(folder)).toEqual(['vectors.bin']);
  });

  it('continues with the rows of an unfinished table', () => {
    create(1);
    const table = VectorTable.open(file, MODEL, 'r+');
    expect(table?.get(0)).toBeNull();
    table?.put(0, vectorOf(0));
    expect(table?.get(0)).toEqual(vectorOf(0));
    table?.close();
    expect(read()?.rows.map(([row]) => row)).toEqual([0, 1]);
  });

  it('returns rows to an open reader after a writer has added them, and reads only the requested rows', () => {
    create(0);
    const reader = VectorTable.open(file, MODEL);
    const writer = VectorTable.open(file, MODEL, 'r+');
    writer?.put(2, vectorOf(2));
    expect(Array.from(reader?.rows((row) => row > 0) ?? [], ([row]) => row)).toEqual([2]);
    reader?.close();
    writer?.close();
  });

  it('has no rows if a release has no passages', () => {
    VectorTable.create(file, { modelDigest: MODEL, dims: DIMS, key: KEY }, new Uint32Array()).close();
    expect(read()?.rows).toEqual([]);
  });

  it('returns null for another model, another format and a missing file', () => {
    expect(read()).toBeNull();
    create(0);
    expect(read('ef'.repeat(32))).toBeNull();
    const fd = openSync(file, 'r+');
    writeSync(fd, Uint8Array.of(1), 0, 1, 4);
    closeSync(fd);
    expect(read()).toBeNull();
  });

  it('rejects a table with a damaged header, and omits a damaged row', () => {
    create(0, 1, 2);
    const sound = readFileSync(file);
    for (let at = 0; at < sound.length; at += 1) {
      // The format version and the model are checked first.
      if ((at >= 4 && at < 8) || (at >= 16 && at < 48)) continue;
      const bytes = Buffer.from(sound);
      bytes[at] = (bytes[at] as number) ^ 0x40;
      writeFileSync(file, bytes);
      const head = 64 + 4 * SECTIONS.length;
      if (at < head) expect(read, `byte ${at}`).toThrow(expect.objectContaining({ code: 'release_damaged' }));
      else {
        const damaged = Math.floor((at - head) / (DIMS + 4));
        expect(
          read()?.rows.map(([row]) => row),
          `byte ${at}`,
        ).toEqual([0, 1, 2].filter((row) => row !== damaged));
      }
    }
  });

  it('rejects a file that ends within the header, and omits an incomplete last row', () => {
    create(0, 1, 2);
    const { length } = readFileSync(file);
    truncateSync(file, length - 1);
    expect(read()?.rows.map(([row]) => row)).toEqual([0, 1]);
    truncateSync(file, 70);
    expect(read).toThrow(expect.objectContaining({ code: 'release_damaged' }));
    truncateSync(file, 10);
    expect(read).toThrow(expect.objectContaining({ code: 'release_damaged' }));
  });

  it.each([[[0, 2, 1]], [[0, 1, 0xffff_ffff]]])('rejects the invalid section numbers %j', (sections) => {
    VectorTable.create(file, { modelDigest: MODEL, dims: DIMS, key: KEY }, Uint32Array.from(sections)).close();
    expect(read).toThrow(expect.objectContaining({ code: 'release_damaged' }));
  });

  it('rejects vectors of another length, rows out of range and too many rows', () => {
    const facts = { modelDigest: MODEL, dims: DIMS, key: KEY };
    const table = VectorTable.create(file, facts, SECTIONS);
    expect(() => table.put(0, new Int8Array(64))).toThrow(RangeError);
    expect(() => table.put(3, vectorOf(0))).toThrow(RangeError);
    table.close();
    expect(() => VectorTable.create(file, facts, new Uint32Array(ROWS_MAX + 1))).toThrow(RangeError);
  });
});
