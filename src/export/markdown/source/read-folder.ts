import { constants, open, stat } from 'node:fs/promises';
import { DocshelfError, errnoOf } from '../../../domain/errors.ts';
import { badSource, type SiteSink } from '../../../domain/job.ts';
import { ARCHIVE_LIMITS } from '../../../domain/limits.ts';
import { type FoundFile, walkFolder } from '../../sources/walk-folder.ts';

const NEXT = 'Set the path of the source to the folder of Markdown files, readable for docshelf.';
/** Packages beside the pages of a documentation with tools of its own. */
const PACKAGES = /(?:^|\/)node_modules(?:\/|$)/;

/** A folder's files in the order of their paths, without those of `node_modules`. @throws DocshelfError `bad_source` */
export async function readFolder(
  dir: string,
  find: SiteSink['find'],
  signal: AbortSignal,
): Promise<readonly FoundFile[]> {
  const info = await stat(dir).catch((error: unknown) => {
    const isMissing = errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR';
    throw badSource(dir, isMissing ? 'it is not there' : `it cannot be read (${errnoOf(error)})`, NEXT, error);
  });
  if (!info.isDirectory()) throw badSource(dir, 'it is no folder', NEXT);
  const { files, leftOut } = await walkFolder(dir, ARCHIVE_LIMITS, signal);
  for (const finding of leftOut) if (!PACKAGES.test(finding.page)) find(finding);
  return files
    .filter(({ path }) => !PACKAGES.test(path))
    .map((file) => ({ ...file, path: file.path.normalize('NFC') }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** @throws DocshelfError `bad_source` where the file cannot be read or is larger than `bytesMax` */
export async function readSource({ path, file }: FoundFile, bytesMax: number): Promise<Uint8Array> {
  try {
    // The listing resolved every link; one that stands there now was put there since.
    await using handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
    const { size } = await handle.stat();
    if (size > bytesMax) {
      throw badSource(path, `it is larger than ${bytesMax / 1024 ** 2} MiB`, 'Part it into several files.');
    }
    return await handle.readFile();
  } catch (error) {
    if (error instanceof DocshelfError) throw error;
    throw badSource(path, `it cannot be read (${errnoOf(error) ?? error})`, 'Make it readable for docshelf.', error);
  }
}
