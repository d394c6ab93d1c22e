import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onFileEnd } from './file-end.ts';

/** Creates an empty folder. The end of the test file removes it. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'docshelf-test-'));
  onFileEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
