import { hash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { FileEntry } from '../../src/domain/release.ts';
import { readLayout } from '../../src/files/file-table.ts';
import { StoredDigests, TABLE_FILE, writeFileTable } from '../../src/files/index.ts';
import { onFileEnd } from '../helpers/file-end.ts';

const dir = mkdtempSync(join(tmpdir(), 'docshelf-digests-'));
onFileEnd(() => rmSync(dir, { recursive: true }));

const fileOf = (path: string, content = path): FileEntry => ({
  path,
  size: content.length,
  sha256: hash('sha256', content),
  type: 'text/html',
});

async function release(name: string, files: readonly FileEntry[]): Promise<string> {
  const folder = join(dir, name);
  mkdirSync(folder);
  await writeFileTable(folder, files);
  return folder;
}

it('StoredDigests finds files of several releases by digest, those of the first release first', async () => {
  const one = await release('one', [fileOf('a.html'), fileOf('größe.html'), fileOf('same.html', 'x')]);
  const two = await release('two', [fileOf('b.html'), fileOf('same-2.html', 'x')]);
  using stored = new StoredDigests([one, two]);
  const find = (content: string) => stored.find(hash('sha256', content));
  expect(['a.html', 'größe.html', 'b.html', 'x', 'none'].map(find)).toEqual([
    join(one, 'site/a.html'),
    join(one, 'site/größe.html'),
    join(two, 'site/b.html'),
    join(one, 'site/same.html'),
    null,
  ]);
});

it('StoredDigests distinguishes digests with the same beginning', async () => {
  const sha256 = `${'a'.repeat(16)}${'b'.repeat(48)}`;
  const folder = await release('alike', [{ ...fileOf('a.html'), sha256 }]);
  using stored = new StoredDigests([folder]);
  expect(stored.find(sha256)).toBe(join(folder, 'site/a.html'));
  expect(stored.find('a'.repeat(64))).toBeNull();
});

it('StoredDigests ignores a deleted release and an invalid table', async () => {
  const sound = await release('sound', [fileOf('a.html')]);
  const damaged = join(dir, 'damaged');
  mkdirSync(damaged);
  writeFileSync(join(damaged, TABLE_FILE), 'x'.repeat(10));
  using stored = new StoredDigests([join(dir, 'gone'), damaged, sound]);
  expect(stored.find(hash('sha256', 'a.html'))).toBe(join(sound, 'site/a.html'));
});

it('StoredDigests ignores the missing part of a truncated table, and reads later tables', async () => {
  const cut = await release('cut', [fileOf('a.html'), fileOf('b.html')]);
  const file = join(cut, TABLE_FILE);
  const bytes = readFileSync(file);
  // One record too many, and a count that cannot be read to its end.
  const { recordsAt } = readLayout(bytes) ?? { recordsAt: 0 };
  bytes.writeUInt32LE(0xffff_fff0, 8);
  writeFileSync(file, bytes.subarray(0, recordsAt + 60));
  const folder = join(dir, 'folder');
  mkdirSync(join(folder, TABLE_FILE), { recursive: true });
  const sound = await release('after', [fileOf('c.html')]);
  using stored = new StoredDigests([cut, folder, sound]);
  const find = (content: string) => stored.find(hash('sha256', content));
  expect(['a.html', 'b.html', 'c.html'].map(find)).toEqual([null, null, join(sound, 'site/c.html')]);
});

it('StoredDigests limits the number of digests, and finds each of them', async () => {
  const files = Array.from({ length: 5_000 }, (_, n) => fileOf(`${String(n).padStart(4, '0')}.html`));
  const folder = await release('many', files);
  using all = new StoredDigests([folder]);
  using some = new StoredDigests([folder, folder], 3_000);
  const known = (stored: StoredDigests) => files.filter(({ sha256 }) => stored.find(sha256) !== null).length;
  expect([known(all), known(some)]).toEqual([5_000, 3_000]);
});
