import { statfs } from 'node:fs/promises';
import type { Config } from '../../config/index.ts';
import type { ReleaseStore } from '../../deploy/index.ts';
import { type Diagnosis, faulty, sound, warning } from '../../domain/diagnosis.ts';
import { DocshelfError } from '../../domain/errors.ts';
import { nearestThere } from './check-data-folder.ts';

const SUBJECT = 'storage.dir';
const GiB = 1024 ** 3;
/** What an empty shelf should have: most bundles unpacked, with their archive, are smaller. */
const EMPTY_SHELF_BYTES = GiB;
/** A site has thousands of small files, and each takes an inode. */
const INODES_SPARE = 10_000;

/**
 * Whether the next bundle fits. It is taken to be as large as the largest that is stored; its archive and its unpacked
 * files are there together while it is taken in.
 */
export async function checkSpace(config: Config, store: ReleaseStore): Promise<Diagnosis[]> {
  const { bavail, bsize, files, ffree } = await statfs(await nearestThere(config.storage.dir));
  const freeBytes = bavail * bsize;
  const stored = await store.list().catch(() => []);
  const nextBytes = Math.max(0, ...stored.map(({ bytes, archiveBytes }) => bytes + archiveBytes));
  const nextFiles = Math.max(0, ...stored.map((release) => release.files));
  const free = `${inGiB(freeBytes)} free`;

  if (nextBytes > freeBytes) {
    const state = `a bundle like the largest that is stored takes ${inGiB(nextBytes)} while it is taken in, and there are ${free}`;
    return [faulty('space', SUBJECT, noSpace(state))];
  }
  // Some file systems (btrfs) have no fixed number of inodes, and say 0.
  if (files > 0 && ffree < nextFiles) {
    return [faulty('space', SUBJECT, noSpace(`a bundle takes ${nextFiles} inodes, and ${ffree} are free`))];
  }
  const comfort = stored.length === 0 ? EMPTY_SHELF_BYTES : 2 * nextBytes;
  if (freeBytes < comfort || (files > 0 && ffree < nextFiles + INODES_SPARE)) {
    return [warning('space', SUBJECT, `There are ${free}, ${ffree} inodes.`, NEXT)];
  }
  const { totalBytesMax } = config.staticExport.limits;
  const limit = totalBytesMax + config.staticExport.bundleBytesMax;
  const largest = freeBytes < limit ? ` The largest bundle that the limits allow (${inGiB(limit)}) would not fit.` : '';
  return [sound('space', SUBJECT, `There are ${free}; ${stored.length} releases are stored.${largest}`)];
}

const NEXT = 'Free space on the volume of storage.dir, lower staticExport.keep, or give it a larger volume.';

function noSpace(state: string): DocshelfError {
  return new DocshelfError('not_enough_space', `Cannot take in the next bundle: ${state}`, { next: NEXT });
}

function inGiB(bytes: number): string {
  return `${(bytes / GiB).toFixed(1)} GiB`;
}
