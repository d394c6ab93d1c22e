import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DocshelfError, errnoOf, toDocshelfError } from '../../domain/errors.ts';
import { readIfThere, replaceFile } from '../../files/index.ts';
import type { ReleaseStore } from '../releases/release-store.ts';
import { isArchiveName } from './signature.ts';
import { stampOf } from './stamp.ts';
import { digestOf, readable, type TakenIn } from './take-in.ts';

export interface PreloadRun {
  /** What the folder's archives are on the shelf, those that could be taken in. */
  readonly releases: readonly TakenIn[];
  readonly failures: readonly DocshelfError[];
}

/** What an archive was when it was looked at last: unchanged, it is not hashed again. */
interface Seen {
  readonly stamp: string;
  readonly digest: string;
  /** What it was taken in as; null where it was refused. */
  readonly taken: PreloadedRelease | null;
}

export type PreloadedRelease = Omit<TakenIn, 'unpacked'>;

/** By the archive's path. */
type PreloadTable = Record<string, Seen>;

/**
 * Takes in the archives of the preload folder. An archive whose size, time and inode are as they were is not hashed again,
 * and what is stored of it is left alone: its label may have moved on since. One that is refused stands in no other's
 * way, nor does a folder that cannot be read.
 *
 * @param take takes one archive in, its digest known
 * @param isWanted whether an unchanged archive is to be taken in again whose release has been pruned or removed
 */
export async function takeInPreload(
  store: ReleaseStore,
  folder: string,
  folderMayBeMissing: boolean,
  signal: AbortSignal,
  take: (file: string, fileName: string, digest: string) => Promise<TakenIn>,
  isWanted: (release: PreloadedRelease) => boolean,
): Promise<PreloadRun> {
  const before = await readTable(store);
  const table: PreloadTable = {};
  const releases: TakenIn[] = [];
  const failures: DocshelfError[] = [];
  const names = await archivesIn(folder, folderMayBeMissing).catch((error: unknown) => {
    failures.push(toDocshelfError(error));
    return [];
  });
  for (const name of names) {
    const file = join(folder, name);
    try {
      const stamp = await stampOf(file);
      if (stamp === null) continue;
      const known = before[file]?.stamp === stamp ? before[file] : null;
      const digest = known?.digest ?? (await digestOf(file, name, signal));
      const former = known?.taken ?? null;
      table[file] = { stamp, digest, taken: former };
      const isStored = (await store.has(digest)) && (await readable(store, digest)) !== null;
      if (former !== null && isStored && (await store.label(former.version)) !== null) {
        releases.push({ ...former, unpacked: false });
      } else if (former === null || isStored || isWanted(former)) {
        const { unpacked, ...taken } = await take(file, name, digest);
        table[file] = { stamp, digest, taken };
        releases.push({ ...taken, unpacked });
      }
    } catch (error) {
      signal.throwIfAborted();
      failures.push(toDocshelfError(error));
    }
  }
  if (JSON.stringify(table) !== JSON.stringify(before)) {
    await replaceFile(store.paths.preloadTable, `${JSON.stringify(table)}\n`);
  }
  return { releases, failures };
}

/** Plain files. What is no archive is refused by its content, and said so. */
async function archivesIn(folder: string, folderMayBeMissing: boolean): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    // A mounted ConfigMap or image volume shows its files as links into a dot folder.
    return entries
      .filter((entry) => (entry.isFile() || entry.isSymbolicLink()) && isArchiveName(entry.name))
      .map((entry) => entry.name)
      .sort();
  } catch (error) {
    if (folderMayBeMissing && errnoOf(error) === 'ENOENT') return [];
    throw new DocshelfError(
      'cannot_read',
      `Cannot read the preload folder "${folder}": ${errnoOf(error) ?? 'failed'}`,
      {
        next: 'Set staticExport.preload to a folder that docshelf may read.',
        cause: error,
      },
    );
  }
}

async function readTable(store: ReleaseStore): Promise<PreloadTable> {
  try {
    return JSON.parse((await readIfThere(store.paths.preloadTable)) ?? '{}') as PreloadTable;
  } catch {
    return {};
  }
}
