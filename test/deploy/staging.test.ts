import { existsSync } from 'node:fs';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createStaging, removeStaging, sweepStaging } from '../../src/deploy/import/staging.ts';
import { foldsCase } from '../../src/deploy/releases/data-folder.ts';
import { isAlive, thisProcess } from '../../src/files/owner.ts';
import { runInProcess } from './processes.ts';
import { newStore } from './workbench.ts';

const HOUR_MS = 3600_000;

describe('sweepStaging() (removes folders of unfinished imports)', () => {
  test('removes folders of a killed process, and keeps folders of running processes', async () => {
    const { paths } = await newStore();
    const mine = await createStaging(paths);
    const other = await runInProcess(`
      const { createStaging } = await deploy('import/staging.ts');
      const { dataPaths } = await deploy('releases/data-folder.ts');
      say(await createStaging(dataPaths(${JSON.stringify(paths.dir)})));`);
    await sweepStaging(paths, Date.now());
    expect((await readdir(paths.staging)).sort()).toEqual([basename(mine), basename(other.line)].sort());
    await other.kill();
    await sweepStaging(paths, Date.now());
    expect(await readdir(paths.staging)).toEqual([basename(mine)]);
    await removeStaging(mine);
    expect(await readdir(paths.staging)).toEqual([]);
  });

  test.each([
    ["another host's folder for a day", { host: 'elsewhere', pid: 1, startTicks: null }, 23 * HOUR_MS, 25 * HOUR_MS],
    ['a folder without an owner file for a minute', null, 50_000, 70_000],
  ])(
    'keeps, only for a limited time, a folder whose owner process cannot be checked: %s',
    async (_, owner, youngMs, oldMs) => {
      const { paths } = await newStore();
      const folder = join(paths.staging, 'folder');
      await mkdir(folder);
      if (owner !== null) await writeFile(join(folder, 'owner.json'), JSON.stringify(owner));
      const nowMs = Date.now();
      await utimes(folder, nowMs / 1000, nowMs / 1000);
      await sweepStaging(paths, nowMs + youngMs);
      expect(await readdir(paths.staging)).toEqual(['folder']);
      await sweepStaging(paths, nowMs + oldMs);
      expect(await readdir(paths.staging)).toEqual([]);
    },
  );
});

test('isAlive() compares the start time of a process, and returns null for a process on another host', () => {
  const me = thisProcess();
  expect(isAlive(me)).toBe(true);
  // Another process can reuse the process ID.
  expect(isAlive({ ...me, startTicks: '1' })).toBe(false);
  expect(isAlive({ ...me, host: `${hostname()}-other` })).toBeNull();
});

test('foldsCase() returns whether the folder ignores case, and leaves no file in it', async () => {
  const { paths } = await newStore();
  const answers = await Promise.all([foldsCase(paths), foldsCase(paths), foldsCase(paths)]);
  expect(await readdir(paths.staging)).toEqual([]);
  await writeFile(join(paths.dir, 'probe'), '');
  const folds = existsSync(join(paths.dir, 'PROBE'));
  expect(answers).toEqual([folds, folds, folds]);
});
