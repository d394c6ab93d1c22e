import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeEach, expect, test } from 'vitest';
import type { FileEntry } from '../../src/domain/release.ts';
import { findInTable, readFileTable, TABLE_FILE, writeFileTable } from '../../src/files/index.ts';
import { newFolder } from '../helpers/new-folder.ts';

let folder: string;
beforeEach(() => {
  folder = newFolder();
});

function entry(path: string, size = path.length): FileEntry {
  const type = path.endsWith('.html') ? 'text/html; charset=utf-8' : 'text/javascript; charset=utf-8';
  return { path, size, sha256: createHash('sha256').update(path).digest('hex'), type };
}

const FILES = ['404.html', 'a/b.html', 'größe.html', '日本/語.js', `${'long/'.repeat(60)}x.js`].map((path) =>
  entry(path),
);

test('the file table of a release returns every stored entry, from memory and disk, and no other entry', async () => {
  const files = [...FILES, ...Array.from({ length: 1000 }, (_, n) => entry(`guides/page-${n}.html`, n * 2 ** 24))];
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  await writeFileTable(folder, files);
  const table = await readFileTable(folder);
  expect([...table.values()]).toEqual(files);
  expect(table.size).toBe(files.length);
  for (const file of files) {
    expect(table.get(file.path)).toEqual(file);
    expect(await findInTable(folder, file.path)).toEqual(file);
  }
  for (const path of ['', 'a', 'a/b', 'A/b.html', 'guides/page-1000.html', '__proto__']) {
    expect(table.has(path), path).toBe(false);
    expect(table.get(path), path).toBeUndefined();
    expect(await findInTable(folder, path), path).toBeNull();
  }
});

test('the file table of a release lists at most a thousand files directly in a folder', async () => {
  const paths = ['a.js', 'a/b.js', 'a/b/c.js', 'a/b-c.js', 'a/b0.js', 'a/d/e.js', 'a/größe.js', 'a0.js', 'b/x.js'];
  const many = Array.from({ length: 5000 }, (_, n) => `many/${String(n).padStart(4, '0')}.js`);
  const files = [...paths, ...many].sort((a, b) => (a < b ? -1 : 1)).map((path) => entry(path));
  await writeFileTable(folder, files);
  const table = await readFileTable(folder);
  expect(table.namesIn('')).toEqual(['a.js', 'a0.js']);
  expect(table.namesIn('a/')).toEqual(['b-c.js', 'b.js', 'b0.js', 'größe.js']);
  expect(table.namesIn('a/b/')).toEqual(['c.js']);
  expect(table.namesIn('absent/')).toEqual([]);
  expect(table.namesIn('many/')).toHaveLength(1024);
});

test('the file table of a release without files is empty', async () => {
  await writeFileTable(folder, []);
  expect((await readFileTable(folder)).size).toBe(0);
  expect(await findInTable(folder, 'a')).toBeNull();
});

test('the file table of a release is rejected as damaged if any byte or its length changes', async () => {
  await writeFileTable(folder, FILES);
  const whole = await readFile(join(folder, TABLE_FILE));
  const places = Array.from(whole, (_, at) => at).filter((at) => at < 160 || at % 17 === 0);
  for (const at of places) {
    const changed = Buffer.from(whole);
    changed[at] = (changed[at] ?? 0) ^ 0x41;
    await writeFile(join(folder, TABLE_FILE), changed);
    await expect(readFileTable(folder), `byte ${at}`).rejects.toMatchObject({ code: 'release_damaged' });
    // A damaged table may cause an error, but neither hangs nor returns another path.
    const found = await findInTable(folder, 'a/b.html').catch(({ code }: { code: string }) => code);
    if (typeof found !== 'string' && found !== null) expect(found.path).toBe('a/b.html');
    else expect([null, 'release_damaged']).toContain(found);
  }
  for (const end of [0, 10, 31, 32, 100, whole.length - 1]) {
    await writeFile(join(folder, TABLE_FILE), whole.subarray(0, end));
    await expect(readFileTable(folder), `of ${end} bytes`).rejects.toMatchObject({ code: 'release_damaged' });
  }
});

test('the file table of a deleted release finds no files', async () => {
  expect(await findInTable(folder, 'a.html')).toBeNull();
});

test('the file table of a release with 110,000 files takes less than 25 MiB', async () => {
  const files = Array.from({ length: 110_000 }, (_, n) => {
    const number = String(n).padStart(6, '0');
    return { ...entry(''), path: `reference/module-${number.slice(0, 3)}/class-${number}/methods/index.html` };
  });
  await writeFileTable(folder, files);
  files.length = 0;
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  const used = () => {
    gc();
    const { heapUsed, external } = process.memoryUsage();
    return (heapUsed + external) / 1024 ** 2;
  };
  const before = used();
  const table = await readFileTable(folder);
  const grown = used() - before;
  expect(table.has('reference/module-109/class-109999/methods/index.html')).toBe(true);
  expect(grown).toBeLessThan(25);
});
