import { chmod, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openDataFolder } from '../../src/deploy/releases/data-folder.ts';

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

it('openDataFolder() keeps the mode of an existing folder', async () => {
  const dir = join(await parent(), 'data');
  await mkdir(dir);
  await chmod(dir, 0o755);
  await openDataFolder(dir);
  expect(await modeOf(dir)).toBe(0o755);
});
