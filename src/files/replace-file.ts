import { link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf } from '../domain/errors.ts';
import { flushPath } from './flush.ts';
import { temporaryBeside } from './temporaries.ts';

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
