import { join } from 'node:path';
import { errnoOf } from '../../domain/errors.ts';
import type { ReleaseView } from '../../domain/release.ts';
import { digestFile, listFiles } from '../../files/index.ts';
import { mapAhead } from '../../files/lanes.ts';

/** Files of a release against the table that it was sealed with. Paths are inside the site. */
export interface ReleaseVerdict {
  readonly sound: number;
  readonly changed: readonly string[];
  readonly missing: readonly string[];
  /** Not in the table, and never served. */
  readonly unknown: readonly string[];
}

const READ_AT_ONCE = 8;

/** @throws the system's own errors where a file that is there cannot be read; the signal's reason */
export async function verifyRelease(
  { siteDir, files }: ReleaseView,
  onProgress: (doneFiles: number, totalFiles: number) => void,
  signal: AbortSignal,
): Promise<ReleaseVerdict> {
  const changed: string[] = [];
  const missing: string[] = [];
  let done = 0;
  const found = mapAhead(files.values(), READ_AT_ONCE, async ({ path, sha256 }) => {
    return { path, sha256, read: await digestOf(join(siteDir, path), signal) };
  });
  for await (const { path, sha256, read } of found) {
    if (read === null) missing.push(path);
    else if (read !== sha256) changed.push(path);
    done += 1;
    onProgress(done, files.size);
  }
  const unknown = (await listFiles(siteDir)).filter((path) => !files.has(path));
  const sound = files.size - changed.length - missing.length;
  return { sound, changed: changed.sort(), missing: missing.sort(), unknown };
}

async function digestOf(file: string, signal: AbortSignal): Promise<string | null> {
  try {
    return await digestFile(file, signal);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(errnoOf(error) ?? '')) return null;
    throw error;
  }
}
