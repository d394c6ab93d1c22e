import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { link, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { errnoOf } from '../domain/errors.ts';

/** The content, whole or in parts. */
type Content = string | Uint8Array | readonly Uint8Array[];

const MODE = 0o644;

/**
 * Replaces a small file so that, whatever happens in between, its name leads to the old content or to the new one,
 * whole: written beside it, flushed, renamed over it, and the folder flushed.
 *
 * @param mode of the file
 * @throws the system's own errors; then the file is as it was, and nothing lies beside it
 */
export async function replaceFile(file: string, content: Content, mode = MODE): Promise<void> {
  await writeBeside(file, content, mode, (temporary) => rename(temporary, file));
}

/**
 * Writes a small file whose name must be free; of processes that do so at once, one succeeds. Unlike rename(2), link(2)
 * fails where the name is taken, so no lock is needed that a killed process could leave.
 *
 * @returns false where the name is taken: that file is as it was
 * @throws the system's own errors
 */
export async function writeOnce(file: string, content: Content, mode = MODE): Promise<boolean> {
  let isOurs = true;
  await writeBeside(file, content, mode, async (temporary) => {
    await link(temporary, file).catch((error: unknown) => {
      if (errnoOf(error) !== 'EEXIST') throw error;
      isOurs = false;
    });
    await rm(temporary);
  });
  return isOurs;
}

async function writeBeside(
  file: string,
  content: Content,
  mode: number,
  publish: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = temporaryBeside(file);
  try {
    // For the owner alone until it is whole: it may hold a secret.
    const handle = await open(temporary, 'wx', 0o600);
    try {
      const parts = typeof content === 'string' || content instanceof Uint8Array ? [content] : content;
      for (const part of parts) await handle.writeFile(part);
      await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await publish(temporary);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await flushPath(dirname(file));
}

/** Prefix of files that are yet to be renamed. */
const TEMPORARY = '.tmp-';
/** Longer than writing a small file takes anywhere. */
const AGE_MS_MAX = 60_000;

/** A unique name beside a file: leftovers of a crash must not block the next attempt. */
export function temporaryBeside(file: string): string {
  return join(dirname(file), `${TEMPORARY}${randomBytes(6).toString('hex')}`);
}

/** Removes temporary files of killed processes. A folder may be missing. */
export async function sweepTemporaries(folders: readonly string[], nowMs: number): Promise<void> {
  for (const folder of folders) {
    const names = await readdir(folder).catch((error: unknown): string[] => {
      if (errnoOf(error) === 'ENOENT') return [];
      throw error;
    });
    for (const name of names) {
      if (!name.startsWith(TEMPORARY)) continue;
      const info = await stat(join(folder, name)).catch(() => null);
      if (info !== null && nowMs - info.mtimeMs > AGE_MS_MAX) await rm(join(folder, name), { force: true });
    }
  }
}

const run = promisify(execFile);

/** Flushes a file, or a folder's list of names: rename(2) and link(2) alone say nothing of what a power cut leaves. */
export async function flushPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
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
    for (let path = queue.pop(); path !== undefined; path = queue.pop()) await flushPath(path);
  };
  await Promise.all(Array.from({ length: 16 }, flushNext));
}
