import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { DataPaths } from './data-folder.ts';

const run = promisify(execFile);

/** How the names of files begin that are about to be renamed. */
const TEMPORARY = '.tmp-';
/** Longer than writing a small file takes anywhere. */
const TEMPORARY_AGE_MS_MAX = 60_000;

/**
 * Replaces a small file so that, whatever happens in between, its name leads to the old content or to the new one,
 * whole: written beside it, flushed, renamed over it, and the folder flushed (rename(2) alone says nothing of what a
 * power cut leaves).
 */
export async function replaceFile(file: string, content: string): Promise<void> {
  // A name of its own: a temporary file that a crash left must not block the next attempt.
  const temporary = join(dirname(file), `${TEMPORARY}${randomBytes(6).toString('hex')}`);
  try {
    const handle = await open(temporary, 'wx', 0o644);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(file));
}

/** Removes what killed processes left beside the files that they were replacing. */
export async function sweepTemporaries(paths: DataPaths, nowMs: number): Promise<void> {
  for (const folder of [paths.dir, paths.versions, paths.daemons]) {
    for (const name of await readdir(folder)) {
      if (!name.startsWith(TEMPORARY)) continue;
      const info = await stat(join(folder, name)).catch(() => null);
      if (info !== null && nowMs - info.mtimeMs > TEMPORARY_AGE_MS_MAX) await rm(join(folder, name), { force: true });
    }
  }
}

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Flushes everything below a folder to the disk.
 *
 * One `sync -f` where the machine has it: 5,000 single fsyncs took 8 s, one syncfs(2) flushes all of them together.
 * Else, in an image that holds nothing but Node, file by file, 16 at a time.
 */
export async function flushTree(folder: string): Promise<void> {
  try {
    await run('sync', ['-f', folder]);
    return;
  } catch {
    // No such program, or one without -f (BusyBox): the slow way below is as safe.
  }
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const queue = entries.map((entry) => join(entry.parentPath, entry.name));
  queue.push(folder);
  const flushNext = async (): Promise<void> => {
    for (let path = queue.pop(); path !== undefined; path = queue.pop()) await syncFolder(path);
  };
  await Promise.all(Array.from({ length: 16 }, flushNext));
}
