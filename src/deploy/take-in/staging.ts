import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive, parseOwner, readIfThere, thisProcess } from '../../files/index.ts';
import type { DataPaths } from '../releases/data-folder.ts';

const OWNER_FILE = 'owner.json';

/** Another host's folder is left alone for longer than any unpacking takes. */
const FOREIGN_AGE_MS_MAX = 24 * 3600_000;

export async function createStaging(paths: DataPaths): Promise<string> {
  const folder = join(paths.staging, randomBytes(8).toString('hex'));
  await mkdir(folder);
  await writeFile(join(folder, OWNER_FILE), JSON.stringify(thisProcess()));
  return folder;
}

export async function removeStaging(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

export async function sweepStaging(paths: DataPaths, nowMs: number): Promise<void> {
  for (const name of await readdir(paths.staging)) {
    const path = join(paths.staging, name);
    const owner = parseOwner((await readIfThere(join(path, OWNER_FILE)).catch(() => null)) ?? '');
    const alive = owner === null ? null : isAlive(owner);
    if (alive === true) continue;
    if (alive === null) {
      const info = await stat(path).catch(() => null);
      if (info === null) continue;
      // Without a mark: being made this moment, or its maker died before the mark.
      const ageMsMax = owner === null ? 60_000 : FOREIGN_AGE_MS_MAX;
      if (nowMs - info.mtimeMs < ageMsMax) continue;
    }
    await removeStaging(path);
  }
}
