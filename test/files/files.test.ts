import { mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { openDatabase } from '../../src/export/jobs/queue/sqlite.ts';
import { lockFile } from '../../src/files/file-lock.ts';
import { flushTree, isInside, readIfThere, replaceFile, sweepTemporaries } from '../../src/files/index.ts';
import { newStore } from '../deploy/workbench.ts';
import { newFolder } from '../helpers/new-folder.ts';

describe('isInside()', () => {
  test.each([
    ['/srv/site/a', '/srv/site', true],
    ['/srv/site-2/a', '/srv/site', false],
    ['/srv/site', '/srv/site', false],
    ['/srv', '/', true],
  ])('returns for the path %s and the folder %s the value %s', (path, folder, expected) => {
    expect(isInside(path, folder)).toBe(expected);
  });
});

describe('replaceFile()', () => {
  test('creates and replaces a file', async () => {
    const folder = newFolder();
    const file = join(folder, 'pointer');
    await replaceFile(file, 'old');
    await replaceFile(file, 'new');
    expect(await readFile(file, 'utf8')).toBe('new');
    expect(await readdir(folder)).toEqual(['pointer']);
  });

  test('keeps the existing file and leaves no temporary file if the rename fails', async () => {
    const folder = newFolder();
    await mkdir(join(folder, 'pointer'));
    await expect(replaceFile(join(folder, 'pointer'), 'new')).rejects.toMatchObject({ code: 'EISDIR' });
    expect(await readdir(folder)).toEqual(['pointer']);
  });

  test('shows readers either the old or the new content, even with many writers', async () => {
    const file = join(newFolder(), 'pointer');
    const contents = Array.from({ length: 20 }, (_, index) => String(index).repeat(10_000));
    await replaceFile(file, contents[0] ?? '');
    const writing = Promise.all(contents.map((content) => replaceFile(file, content)));
    for (let read = 0; read < 20; read += 1) expect(contents).toContain(await readFile(file, 'utf8'));
    await writing;
    expect(contents).toContain(await readFile(file, 'utf8'));
  });
});

describe('readIfThere()', () => {
  test('throws an error that names the path if the path is a folder', async () => {
    const folder = newFolder();
    const error = { code: 'cannot_read', message: `Cannot read "${folder}": it is a folder` };
    await expect(readIfThere(folder)).rejects.toMatchObject(error);
  });

  test('returns the text of a file, and null if the file is missing', async () => {
    const file = join(newFolder(), 'state');
    await writeFile(file, 'ä');
    expect([await readIfThere(file), await readIfThere(`${file}2`)]).toEqual(['ä', null]);
  });
});

describe('lock file and database', () => {
  test.each([
    ['lockFile()', (file: string) => lockFile(file, 'exclusive')],
    ['openDatabase()', (file: string) => openDatabase(file, { monotonicMs: () => 0 })],
  ])('are not created through a symbolic link by %s', async (_case, open) => {
    const folder = newFolder();
    await symlink(join(folder, 'elsewhere'), join(folder, 'link'));
    let opened: { close(): void } | 'taken' | null = null;
    try {
      opened = open(join(folder, 'link'));
    } catch (error) {
      expect(error).toMatchObject({ code: 'cannot_write' });
    }
    if (opened !== 'taken') opened?.close();
    expect(await readdir(folder)).toEqual(['link']);
  });
});

test('sweepTemporaries() removes only old temporary files of killed processes', async () => {
  const { paths } = await newStore();
  const folder = paths.inbox;
  const left = join(folder, '.tmp-left');
  const fresh = join(paths.dir, '.tmp-fresh');
  const label = join(folder, 'v1');
  for (const file of [left, fresh, label]) await writeFile(file, '');
  const longAgo = new Date(Date.now() - 3600_000);
  for (const file of [left, label]) await utimes(file, longAgo, longAgo);
  await sweepTemporaries([paths.dir, folder], Date.now());
  expect(await readdir(folder)).toEqual(['v1']);
  expect(await readdir(paths.dir)).toContain('.tmp-fresh');
});

test.each([
  ['with the program sync', process.env.PATH],
  ['without the program sync', '/nowhere'],
])('flushTree() succeeds for a folder with subfolders (%s)', async (_, path) => {
  const folder = newFolder();
  await mkdir(join(folder, 'a/b'), { recursive: true });
  await writeFile(join(folder, 'a/b/file'), 'text');
  vi.stubEnv('PATH', path);
  try {
    await expect(flushTree(folder)).resolves.toBeUndefined();
  } finally {
    vi.unstubAllEnvs();
  }
});
