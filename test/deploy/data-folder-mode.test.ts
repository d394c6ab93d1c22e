import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { identityOf, openDataFolder } from '../../src/deploy/releases/data-folder.ts';
import { newFolder } from '../helpers/new-folder.ts';

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

it('openDataFolder() creates a data folder that only its owner can access', async () => {
  const dir = join(newFolder(), 'a', 'data');
  await openDataFolder(dir);
  expect(await modeOf(dir)).toBe(0o700);
});

it('identityOf() (identity of a data folder) returns the id null if the stored id is damaged', async () => {
  const paths = await openDataFolder(join(newFolder(), 'data'));
  expect(await identityOf(paths)).toMatchObject({ id: expect.stringMatching(/^[0-9a-f]{32}$/) });
  await writeFile(paths.id, '\u0000\uFFFD');
  expect(await identityOf(paths)).toMatchObject({ id: null });
});

it('openDataFolder() keeps the mode of an existing folder', async () => {
  const dir = join(newFolder(), 'data');
  await mkdir(dir);
  await chmod(dir, 0o755);
  await openDataFolder(dir);
  expect(await modeOf(dir)).toBe(0o755);
});
