import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readBytesIfThere } from '../files/index.ts';
import type { ExportsFolder } from './exports-folder.ts';

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
