import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { FileEntry } from '../../src/domain/release.ts';
import { storedDigests, TABLE_FILE, writeFileTable } from '../../src/files/index.ts';
import { newFolder } from '../helpers/new-folder.ts';

const dir = newFolder();

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

it('storedDigests() finds files of several releases by digest, and prefers the files of the first release', async () => {
  const one = await release('one', [fileOf('a.html'), fileOf('größe.html'), fileOf('same.html', 'x')]);
  const two = await release('two', [fileOf('b.html'), fileOf('same-2.html', 'x')]);
  const stored = await storedDigests([one, two]);
  const find = (content: string) => stored.get(hash('sha256', content));
  expect(['a.html', 'größe.html', 'b.html', 'x', 'none'].map(find)).toEqual([
    join(one, 'site/a.html'),
    join(one, 'site/größe.html'),
    join(two, 'site/b.html'),
    join(one, 'site/same.html'),
    undefined,
  ]);
});

it('storedDigests() distinguishes digests with the same beginning', async () => {
  const sha256 = `${'a'.repeat(16)}${'b'.repeat(48)}`;
  const folder = await release('alike', [{ ...fileOf('a.html'), sha256 }]);
  const stored = await storedDigests([folder]);
  expect(stored.get(sha256)).toBe(join(folder, 'site/a.html'));
  expect(stored.get('a'.repeat(64))).toBeUndefined();
});

it('storedDigests() ignores a deleted release and an invalid table', async () => {
  const sound = await release('sound', [fileOf('a.html')]);
  const damaged = join(dir, 'damaged');
  mkdirSync(damaged);
  writeFileSync(join(damaged, TABLE_FILE), 'x'.repeat(10));
  const stored = await storedDigests([join(dir, 'gone'), damaged, sound]);
  expect(stored.get(hash('sha256', 'a.html'))).toBe(join(sound, 'site/a.html'));
});

it('storedDigests() skips a truncated table, and reads later tables', async () => {
  const cut = await release('cut', [fileOf('a.html'), fileOf('b.html')]);
  truncateSync(join(cut, TABLE_FILE), readFileSync(join(cut, TABLE_FILE)).length - 1);
  const folder = join(dir, 'folder');
  mkdirSync(join(folder, TABLE_FILE), { recursive: true });
  const sound = await release('after', [fileOf('c.html')]);
  const stored = await storedDigests([cut, folder, sound]);
  expect([...stored.values()]).toEqual([join(sound, 'site/c.html')]);
});

it('storedDigests() returns all digests of a release, but at most the given maximum', async () => {
  const files = Array.from({ length: 5_000 }, (_, n) => fileOf(`${String(n).padStart(4, '0')}.html`));
  const folder = await release('many', files);
  const all = await storedDigests([folder]);
  const some = await storedDigests([folder, folder], 3_000);
  expect([all.size, some.size]).toEqual([5_000, 3_000]);
});
