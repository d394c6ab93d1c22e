import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { DocshelfError } from '../domain/errors.ts';
import { ageOf, readBytesIfThere } from '../files/index.ts';
import type { StoreFolders } from './ports.ts';

/**
 * Subfolders of the exports folder. `pictures` has a folder per job, `work` a folder per attempt, `crawls` a file per domain,
 * and `locks` a file per working folder of commands.
 */
const FOLDERS = ['files', 'manifests', 'bundles', 'signatures', 'pictures', 'crawls', 'locks', 'work'] as const;
export type ExportsFolder = Readonly<Record<'dir' | 'jobsFile' | (typeof FOLDERS)[number], string>>;

const REPACK = '-repack-';
/** Age at which docshelf removes a leftover temporary folder of a repacked archive. Packing 8 GiB takes only minutes. */
const REPACK_MS_MAX = 3_600_000;

export async function openExportsFolder(dir: string): Promise<ExportsFolder> {
  for (const name of FOLDERS) await mkdir(join(dir, name), { recursive: true });
  const paths = FOLDERS.map((name) => [name, join(dir, name)] as const);
  return {
    dir,
    jobsFile: join(dir, 'jobs.sqlite'),
    ...(Object.fromEntries(paths) as Omit<ExportsFolder, 'dir' | 'jobsFile'>),
  };
}

export function storeFolders({ files, manifests }: ExportsFolder): StoreFolders {
  return { filesDir: files, manifestsDir: manifests };
}

export async function makeWorkFolder({ work }: ExportsFolder, jobId: string, attempt: number): Promise<string> {
  await removeWorkFolders({ work }, (name) => name.startsWith(`${jobId}-`));
  const path = join(work, `${jobId}-${attempt}`);
  await mkdir(path, { recursive: true });
  return path;
}

export const journalFolder = ({ work }: ExportsFolder, jobId: string): string => join(work, jobId);

const MARK = 'api';

export async function markApiFolder({ dir }: ExportsFolder): Promise<void> {
  await writeFile(join(dir, MARK), '');
}

/** Waits until an API daemon has created the file `api`. Without an API daemon on this folder, clients could not download bundles. */
export async function untilApiFolder(
  { dir }: ExportsFolder,
  signal: AbortSignal,
  onMissing: (error: DocshelfError) => void,
): Promise<void> {
  for (let isReported = false; (await ageOf(join(dir, MARK))) === null; isReported = true) {
    if (!isReported) onMissing(noApiFolder(dir));
    await setTimeout(MARK_POLL_MS, undefined, { signal });
  }
}

const MARK_POLL_MS = 2000;

function noApiFolder(dir: string): DocshelfError {
  return new DocshelfError('cannot_write', `Cannot run export jobs: no API daemon stores its bundles in "${dir}"`, {
    next: 'Set exportApi.store.kind to s3 for all daemons, or give them one shared storage.dir. Until then, jobs stay in the queue.',
  });
}

export const makeRepackFolder = async ({ work }: ExportsFolder, jobId: string): Promise<string> =>
  mkdtemp(join(work, `${jobId}${REPACK}`));

/**
 * Removes work folders for which `isGone` is true. For one hour, keeps a folder that was created to repack an archive, because a
 * process may still use it.
 */
export async function removeWorkFolders(
  { work }: Pick<ExportsFolder, 'work'>,
  isGone: (name: string) => boolean | Promise<boolean>,
): Promise<void> {
  for (const name of await readdir(work)) {
    const path = join(work, name);
    if (!(await isGone(name)) || (name.includes(REPACK) && ((await ageOf(path)) ?? Infinity) < REPACK_MS_MAX)) continue;
    // A concurrent writer can add a file to the folder between listing and removal, so retry.
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  }
}

export const jobIdOf = (workFolderName: string): string => workFolderName.replace(/-.*$/, '');

const NAME = /^[1-9]-(?:live|written)\.png$/;

export async function readPicture(
  { pictures }: Pick<ExportsFolder, 'pictures'>,
  jobId: string,
  name: string,
  shared: ((name: string) => Promise<Uint8Array<ArrayBuffer> | null>) | null = null,
): Promise<Uint8Array<ArrayBuffer> | null> {
  if (!NAME.test(name)) return null;
  return (await readBytesIfThere(join(pictures, jobId, name))) ?? (await shared?.(`pictures/${jobId}/${name}`)) ?? null;
}

export async function removePictures(
  { pictures }: Pick<ExportsFolder, 'pictures'>,
  isGone: (jobId: string) => Promise<boolean>,
): Promise<void> {
  for (const jobId of await readdir(pictures)) {
    if (await isGone(jobId)) await rm(join(pictures, jobId), { recursive: true, force: true });
  }
}
