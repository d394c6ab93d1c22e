import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { identityOf, openDataFolder } from '../../src/deploy/releases/data-folder.ts';

async function parent(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'docshelf-mode-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}
const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

it('openDataFolder() creates a data folder that only its owner can access', async () => {
  const dir = join(await parent(), 'a', 'data');
  await openDataFolder(dir);
  expect(await modeOf(dir)).toBe(0o700);
});

it('identityOf() ignores an id that is damaged', async () => {
  const paths = await openDataFolder(join(await parent(), 'data'));
  expect(await identityOf(paths)).toMatchObject({ id: expect.stringMatching(/^[0-9a-f]{32}$/) });
  await writeFile(paths.id, '\u0000\uFFFD');
  expect(await identityOf(paths)).toMatchObject({ id: null });
});

it('openDataFolder() keeps the mode of an existing folder', async () => {
  const dir = join(await parent(), 'data');
  await mkdir(dir);
  await chmod(dir, 0o755);
  await openDataFolder(dir);
  expect(await modeOf(dir)).toBe(0o755);
});
