import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readBytesIfThere } from '../files/index.ts';
import type { StoreFolders } from './ports.ts';

/**
 * - `files`: files of sites by their digest, shared by all jobs.
 * - `manifests`: by the digest of their content. `bundles` (disk) and `signatures`: by the archive's digest.
 * - `pictures`: pages that the proof found wrong, in a folder for each job. `crawls`: a record of each domain's last crawl.
 * - `work`: a folder for each running attempt, and one for the journal of each job.
 */
const FOLDERS = ['files', 'manifests', 'bundles', 'signatures', 'pictures', 'crawls', 'work'] as const;
export type ExportsFolder = Readonly<Record<'dir' | 'jobsFile' | (typeof FOLDERS)[number], string>>;

const REPACK = '-repack-';
/** Packing 200,000 files with 8 GiB takes some minutes. An older folder is left over from a killed process. */
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

/** Creates an empty folder for one attempt and removes those of earlier ones. A process that still writes there has lost the job. */
export async function makeWorkFolder({ work }: ExportsFolder, jobId: string, attempt: number): Promise<string> {
  await removeWorkFolders({ work }, (name) => name.startsWith(`${jobId}-`));
  const path = join(work, `${jobId}-${attempt}`);
  await mkdir(path, { recursive: true });
  return path;
}

export function journalFolder({ work }: ExportsFolder, jobId: string): string {
  return join(work, jobId);
}

export async function makeRepackFolder({ work }: ExportsFolder, jobId: string): Promise<string> {
  return mkdtemp(join(work, `${jobId}${REPACK}`));
}

/** Removes work folders by name (`jobIdOf`), except those in which a bundle of an ended job is being packed again. */
export async function removeWorkFolders(
  { work }: Pick<ExportsFolder, 'work'>,
  isGone: (name: string) => boolean | Promise<boolean>,
): Promise<void> {
  for (const name of await readdir(work)) {
    const path = join(work, name);
    if (!(await isGone(name)) || (name.includes(REPACK) && (await isInUse(path)))) continue;
    // A concurrent writer can add a file between listing and removal, so retry.
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  }
}

export function jobIdOf(workFolderName: string): string {
  return workFolderName.replace(/-.*$/, '');
}

async function isInUse(folder: string): Promise<boolean> {
  const info = await stat(folder).catch(() => null);
  return info !== null && Date.now() - info.mtimeMs < REPACK_MS_MAX;
}

/** Rank of the page, and the site that the picture shows. */
const NAME = /^[1-9]-(?:live|written)\.png$/;

/** Reads a PNG that the report of a job names. @param shared reads pictures of other daemons. @throws a system error */
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
