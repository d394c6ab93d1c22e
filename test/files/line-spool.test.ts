import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { LineSpool } from '../../src/files/index.ts';
import { newFolder } from '../helpers/new-folder.ts';

let dir: string;
beforeEach(() => {
  dir = newFolder();
});

const open = () => new LineSpool(join(dir, 'spool'));

describe('LineSpool (lines in a temporary file)', () => {
  it('returns all lines in order on each read', () => {
    using spool = open();
    expect([...spool.lines()]).toEqual([]);
    for (const line of ['one', '', 'zwei 😀']) spool.add(line);
    expect([...spool.lines()]).toEqual(['one', '', 'zwei 😀']);
    spool.add('three');
    expect([...spool.lines()]).toEqual(['one', '', 'zwei 😀', 'three']);
  });

  it('keeps lines that are longer than its read buffer, or that extend over two buffers', () => {
    using spool = open();
    const lines = [100, 262_143, 1, 262_144, 5, 3_000_000, 0, 700_000].map((length, at) =>
      '€'
        .repeat(length)
        .slice(0, length - 1)
        .concat(length > 0 ? `${at}` : ''),
    );
    for (const line of lines) spool.add(line);
    expect([...spool.lines()].every((line, at) => line === lines[at])).toBe(true);
    expect([...spool.lines()].length).toBe(lines.length);
  });

  it('supports two readers at different positions', () => {
    using spool = open();
    for (let at = 0; at < 50_000; at += 1) spool.add(`line ${at}`);
    const slow = spool.lines();
    expect(slow.next().value).toBe('line 0');
    expect([...spool.lines()].length).toBe(50_000);
    expect([...slow].at(-1)).toBe('line 49999');
  });

  it('leaves no file in the folder, and rejects a path that already exists', async () => {
    using spool = open();
    spool.add('line');
    expect([...spool.lines()]).toEqual(['line']);
    expect(await readdir(dir)).toEqual([]);
    expect(() => new LineSpool(dir)).toThrow(expect.objectContaining({ code: 'EEXIST' }));
  });
});
