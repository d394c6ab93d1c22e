import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readBytesIfThere } from '../files/index.ts';
import type { StoreFolders } from './ports.ts';

/**
 * - `files`: files of sites by their digest, shared by all jobs.
 * - `manifests`: by the digest of their content. `bundles` (disk), `signatures`: by the archive's digest.
 * - `pictures`: of pages that were found wrong, in a folder for each job. `crawls`: a record of each domain's last crawl.
 * - `work`: a folder for each running attempt, and one for the journal of each job.
 */
const FOLDERS = ['files', 'manifests', 'bundles', 'signatures', 'pictures', 'crawls', 'work'] as const;
export type ExportsFolder = Readonly<Record<'dir' | 'jobsFile' | (typeof FOLDERS)[number], string>>;

const REPACK = '-repack-';
/** 200,000 files of 8 GiB in all are packed in some minutes; an older one is of a process that was killed. */
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

/** The folder of one attempt, new and empty. Those of earlier attempts go: whoever still writes there has lost the job. */
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

/** Removes work folders by name (`jobIdOf`), but for those in which a bundle is being packed anew: their job has ended. */
export async function removeWorkFolders(
  { work }: Pick<ExportsFolder, 'work'>,
  isGone: (name: string) => boolean | Promise<boolean>,
): Promise<void> {
  for (const name of await readdir(work)) {
    const path = join(work, name);
    if (!(await isGone(name)) || (name.includes(REPACK) && (await isInUse(path)))) continue;
    // A writer may make the folder not empty once more.
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

/** A PNG that the report of a job names, or null. @param shared reads what is not here. @throws the system's own errors */
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
