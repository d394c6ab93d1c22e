import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReleaseInfo } from '../../domain/release.ts';
import { flushPath, flushTree } from '../../files/index.ts';
import { COMPLETE_FILE } from '../releases/release-store.ts';

/**
 * Makes an unpacked folder a release: its record, everything flushed, and only then the marker. Whatever moment the power
 * goes, a folder with the marker is whole.
 */
export async function seal(releaseDir: string, info: ReleaseInfo): Promise<void> {
  await writeFile(join(releaseDir, 'release.json'), `${JSON.stringify(info, null, 2)}\n`, { flag: 'wx' });
  await flushTree(releaseDir);
  const marker = join(releaseDir, COMPLETE_FILE);
  await writeFile(marker, '', { flag: 'wx', flush: true });
  await flushPath(releaseDir);
}
