import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { errnoOf } from '../domain/errors.ts';

/** The file's text (UTF-8), or null where there is none. @throws the system's other errors */
export async function readIfThere(file: string): Promise<string | null> {
  const bytes = await readBytesIfThere(file);
  return bytes === null ? null : bytes.toString('utf8');
}

/** The file's bytes, or null where there is none. @throws the system's other errors */
export async function readBytesIfThere(file: string): Promise<Buffer<ArrayBuffer> | null> {
  try {
    return await readFile(file);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** All files in a folder and below, as sorted paths from it, `/` between segments. */
export async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}

/** Fewer, larger reads: the default of 64 KiB takes half as long again for an archive. */
const CHUNK_BYTES = 1024 ** 2;

/**
 * SHA-256 of a file, streamed; 64 lower-case hex digits.
 *
 * @throws the system's own errors; the signal's reason where that aborts
 */
export async function digestFile(file: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  try {
    await pipeline(
      createReadStream(file, { highWaterMark: CHUNK_BYTES }),
      hash,
      signal === undefined ? {} : { signal },
    );
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
  return hash.digest('hex');
}
