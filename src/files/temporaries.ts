import { randomBytes } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** How the names of files begin that are about to get their own. */
const TEMPORARY = '.tmp-';
/** Longer than writing a small file takes anywhere. */
const AGE_MS_MAX = 60_000;

/** A name beside a file, of its own: what a crash left must not block the next attempt. */
export function temporaryBeside(file: string): string {
  return join(dirname(file), `${TEMPORARY}${randomBytes(6).toString('hex')}`);
}

/** Removes what killed processes left beside the files that they were writing. */
export async function sweepTemporaries(folders: readonly string[], nowMs: number): Promise<void> {
  for (const folder of folders) {
    for (const name of await readdir(folder)) {
      if (!name.startsWith(TEMPORARY)) continue;
      const info = await stat(join(folder, name)).catch(() => null);
      if (info !== null && nowMs - info.mtimeMs > AGE_MS_MAX) await rm(join(folder, name), { force: true });
    }
  }
}
