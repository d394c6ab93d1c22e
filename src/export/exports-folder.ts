import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readBytesIfThere } from '../files/index.ts';
import type { StoreFolders } from './jobs/orders.ts';

/** The folder of the service side (`exports/` in the data folder): what lies where. */
export interface ExportsFolder {
  readonly dir: string;
  /** The jobs (sqlite). */
  readonly jobsFile: string;
  /** Files of sites by their digest, shared by all jobs. */
  readonly files: string;
  /** Manifests by the digest of what they describe. */
  readonly manifests: string;
  /** Packed archives by their digest (disk). */
  readonly bundles: string;
  /** Signatures of archives by the archive's digest. */
  readonly signatures: string;
  /** Of pages that were found wrong, in a folder for each job. */
  readonly pictures: string;
  /** Records of the last crawl of each domain. */
  readonly crawls: string;
  /** A folder for each attempt that is running, and one for what the attempts of a job leave to each other. */
  readonly work: string;
}

const REPACK = '-repack-';
/** 200,000 files of 8 GiB in all are packed in some minutes; what is older was left by a process that was killed. */
const REPACK_MS_MAX = 3_600_000;

/** Makes what is missing. @throws the system's own errors */
export async function openExportsFolder(dir: string): Promise<ExportsFolder> {
  const folder: ExportsFolder = {
    dir,
    jobsFile: join(dir, 'jobs.sqlite'),
    files: join(dir, 'files'),
    manifests: join(dir, 'manifests'),
    bundles: join(dir, 'bundles'),
    signatures: join(dir, 'signatures'),
    pictures: join(dir, 'pictures'),
    crawls: join(dir, 'crawls'),
    work: join(dir, 'work'),
  };
  const { files, manifests, bundles, signatures, pictures, crawls, work } = folder;
  for (const path of [files, manifests, bundles, signatures, pictures, crawls, work])
    await mkdir(path, { recursive: true });
  return folder;
}

/** The stores, for a job's steps. */
export function storeFolders({ files, manifests }: ExportsFolder): StoreFolders {
  return { filesDir: files, manifestsDir: manifests };
}

/**
 * The folder of one attempt, new and empty. What an earlier attempt of the job left goes: it may still be written to by a
 * holder that has lost the job, which then fails, and would have been told so anyway.
 */
export async function makeWorkFolder({ work }: ExportsFolder, jobId: string, attempt: number): Promise<string> {
  await removeWorkFolders({ work }, (name) => name.startsWith(`${jobId}-`));
  const path = join(work, `${jobId}-${attempt}`);
  await mkdir(path, { recursive: true });
  return path;
}

/** The journal that a job's attempts leave to later ones. Not made here. */
export function journalFolder({ work }: ExportsFolder, jobId: string): string {
  return join(work, jobId);
}

/** A folder for packing the bundle of a job anew. Several processes may be at it, each in a folder of its own. */
export async function makeRepackFolder({ work }: ExportsFolder, jobId: string): Promise<string> {
  return mkdtemp(join(work, `${jobId}${REPACK}`));
}

/**
 * Removes the work folders that a test on their name picks; `jobIdOf` tells whose they are. One in which a bundle is being
 * packed anew stays: its job has ended long ago.
 */
export async function removeWorkFolders(
  { work }: Pick<ExportsFolder, 'work'>,
  isGone: (name: string) => boolean | Promise<boolean>,
): Promise<void> {
  for (const name of await readdir(work)) {
    const path = join(work, name);
    if (!(await isGone(name)) || (name.includes(REPACK) && (await isInUse(path)))) continue;
    // Whoever still writes there makes the folder not empty once more, and then has nowhere to write.
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** The job whose work folder has this name. */
export function jobIdOf(workFolderName: string): string {
  return workFolderName.replace(/-.*$/, '');
}

async function isInUse(folder: string): Promise<boolean> {
  const info = await stat(folder).catch(() => null);
  return info !== null && Date.now() - info.mtimeMs < REPACK_MS_MAX;
}

/** As the proof of a site names them: the rank of a page, and which of the two sites it shows. */
const NAME = /^[1-9]-(?:live|written)\.png$/;

/** A picture that the report of a job names, a PNG; null where there is none of that name. @throws the system's own errors */
export async function readPicture(
  { pictures }: Pick<ExportsFolder, 'pictures'>,
  jobId: string,
  name: string,
): Promise<Uint8Array<ArrayBuffer> | null> {
  return NAME.test(name) ? readBytesIfThere(join(pictures, jobId, name)) : null;
}

/** Removes the pictures of jobs that are gone. */
export async function removePictures(
  { pictures }: Pick<ExportsFolder, 'pictures'>,
  isGone: (jobId: string) => Promise<boolean>,
): Promise<void> {
  for (const jobId of await readdir(pictures)) {
    if (await isGone(jobId)) await rm(join(pictures, jobId), { recursive: true, force: true });
  }
}
