import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

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
  /** A folder for each attempt that is running. */
  readonly work: string;
}

/** Makes what is missing. @throws the system's own errors */
export async function openExportsFolder(dir: string): Promise<ExportsFolder> {
  const folder: ExportsFolder = {
    dir,
    jobsFile: join(dir, 'jobs.sqlite'),
    files: join(dir, 'files'),
    manifests: join(dir, 'manifests'),
    bundles: join(dir, 'bundles'),
    signatures: join(dir, 'signatures'),
    work: join(dir, 'work'),
  };
  const { files, manifests, bundles, signatures, work } = folder;
  for (const path of [files, manifests, bundles, signatures, work]) await mkdir(path, { recursive: true });
  return folder;
}

/**
 * The folder of one attempt, new and empty. What an earlier attempt of the job left goes: it may still be written to by a
 * holder that has lost the job, which then fails, and would have been told so anyway.
 */
export async function makeWorkFolder(
  { work }: ExportsFolder,
  jobId: string,
  attempt: number | 'repack',
): Promise<string> {
  await removeWorkFolders({ work }, (name) => name.startsWith(`${jobId}-`));
  const path = join(work, `${jobId}-${attempt}`);
  await mkdir(path, { recursive: true });
  return path;
}

/** Removes the work folders that a test on their name picks; `jobIdOf` tells whose they are. */
export async function removeWorkFolders(
  { work }: Pick<ExportsFolder, 'work'>,
  isGone: (name: string) => boolean | Promise<boolean>,
): Promise<void> {
  for (const name of await readdir(work)) {
    if (await isGone(name)) await rm(join(work, name), { recursive: true, force: true });
  }
}

/** The job whose work folder has this name. */
export function jobIdOf(workFolderName: string): string {
  return workFolderName.replace(/-[^-]*$/, '');
}
