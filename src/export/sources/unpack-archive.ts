import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { extractArchive, inspectArchive } from '../../archive/index.ts';
import { DocshelfError } from '../../domain/errors.ts';
import { badSource, type Finding } from '../../domain/job.ts';
import type { ArchiveLimits } from '../../domain/limits.ts';
import { showName } from '../../domain/secret.ts';

/**
 * By the rules of a bundle that is taken in. @param workDir a folder that is the caller's to empty and to remove
 * @throws DocshelfError `bad_source` where it cannot be read or holds no page; a code of `ARCHIVE_RULES`
 */
export async function unpackArchive(
  file: string,
  workDir: string,
  limits: ArchiveLimits,
  onProgress: (doneBytes: number, totalBytes: number) => void,
  signal: AbortSignal,
): Promise<{ readonly dir: string; readonly leftOut: readonly Finding[] }> {
  // Where the work folder's file system folds case, names that differ by it show as `name_case_conflict`.
  const options = { name: basename(file), limits, foldsCase: false, signal };
  const listing = await inspectArchive(file, options).catch((error: unknown) => {
    throw asBadSource(file, error);
  });
  const dir = join(workDir, 'site');
  const ownDir = join(workDir, 'own');
  await mkdir(workDir, { recursive: true });
  await extractArchive(file, listing, { ...options, siteDir: dir, ownDir, onProgress });
  const leftOut = listing.launchers.map((name) => leaveOut(name, 'it is a launcher, not part of the site'));
  if (listing.ownRoot !== '')
    leftOut.push(leaveOut(listing.ownRoot, "it is docshelf's own folder, which each export makes anew"));
  return { dir, leftOut };
}

function leaveOut(path: string, detail: string): Finding {
  return { kind: 'left_out', page: showName(path), detail };
}

/** Faults of the source's place, not of the archive's content, have the code of sources. */
function asBadSource(file: string, error: unknown): unknown {
  if (!(error instanceof DocshelfError)) return error;
  if (error.code === 'no_pages')
    return badSource(file, 'it holds no HTML page', 'Pack the built site, not its sources.', error);
  if (error.code === 'cannot_read')
    return badSource(file, 'it cannot be read', 'Make it readable for the user that docshelf runs as.', error);
  return error;
}
