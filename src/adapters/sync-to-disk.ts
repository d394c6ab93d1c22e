import { open } from 'node:fs/promises';

/** Flushes a file, or a folder's list of names: rename(2) and link(2) alone say nothing of what a power cut leaves. */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
