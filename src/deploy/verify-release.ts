import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../domain/errors.ts';
import type { FileEntry, ReleaseView } from '../domain/release.ts';
import { digestFile } from '../files/index.ts';

/** What the files of a release are, beside what its table says that they were when it was unpacked. Paths are inside the site. */
export interface ReleaseVerdict {
  /** Files that are as they were. */
  readonly sound: number;
  /** Files with other bytes. */
  readonly changed: readonly string[];
  readonly missing: readonly string[];
  /** Files that the table does not know. They are never served. */
  readonly unknown: readonly string[];
}

/** Files that are read at once. */
const READ_AT_ONCE = 8;

/**
 * Reads every file of a release and compares it with the table that the release was sealed with.
 *
 * @throws the system's own errors where a file that is there cannot be read; the signal's reason when it is aborted
 */
export async function verifyRelease(
  { siteDir, files }: ReleaseView,
  onProgress: (doneFiles: number, totalFiles: number) => void,
  signal: AbortSignal,
): Promise<ReleaseVerdict> {
  const waiting = [...files.values()].reverse();
  const changed: string[] = [];
  const missing: string[] = [];
  let done = 0;
  const readOn = async (): Promise<void> => {
    for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
      const sha256 = await digestOf(join(siteDir, entry.path), signal);
      if (sha256 === null) missing.push(entry.path);
      else if (sha256 !== entry.sha256) changed.push(entry.path);
      done += 1;
      onProgress(done, files.size);
    }
  };
  await Promise.all(Array.from({ length: READ_AT_ONCE }, readOn));
  const unknown = await unknownFiles(siteDir, files);
  const sound = files.size - changed.length - missing.length;
  return { sound, changed: changed.sort(), missing: missing.sort(), unknown: unknown.sort() };
}

async function digestOf(file: string, signal: AbortSignal): Promise<string | null> {
  try {
    return await digestFile(file, signal);
  } catch (error) {
    // A folder in place of a file is no file.
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(errnoOf(error) ?? '')) return null;
    throw error;
  }
}

async function unknownFiles(siteDir: string, files: ReadonlyMap<string, FileEntry>): Promise<string[]> {
  const found = await readdir(siteDir, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(siteDir.length + 1))
    .filter((path) => !files.has(path));
}
