import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onFileEnd } from './file-end.ts';

/** Mounts a disk of this size until the end of the test file. Null if this user may not mount. */
export function smallDisk(size: string): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'docshelf-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    rmdirSync(folder);
    return null;
  }
  onFileEnd(() => {
    execFileSync('umount', [folder]);
    rmdirSync(folder);
  });
  return folder;
}
