import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onFileEnd } from './file-end.ts';

/** Creates an empty folder, which is removed after the last test of the file. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'docshelf-test-'));
  onFileEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
