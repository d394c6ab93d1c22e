import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onFileEnd } from './file-end.ts';

const CANDIDATES = ['/dev/shm', '/var/tmp', import.meta.dirname];

/** New folder on another file system than the temporary folder. Null if the machine has only one. */
export function folderElsewhere(): string | null {
  const here = statSync(tmpdir()).dev;
  const base = CANDIDATES.find((folder) => (statSync(folder, { throwIfNoEntry: false })?.dev ?? here) !== here);
  if (base === undefined) return null;
  const folder = mkdtempSync(join(base, 'docshelf-elsewhere-'));
  onFileEnd(() => rmSync(folder, { recursive: true }));
  return folder;
}
