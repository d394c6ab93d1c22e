import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onFileEnd } from './file-end.ts';

/** Creates an empty folder, which is removed after the last test of the file. */
export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'docshelf-'));
  onFileEnd(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
