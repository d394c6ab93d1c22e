import { createHash, type Hash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { type FileHandle, open, readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { DocshelfError, errnoOf } from '../domain/errors.ts';

/** Null if an operation rejects because the file or folder is missing (ENOENT). @throws NodeJS.ErrnoException with another code */
export async function ifThere<Result>(act: Promise<Result>): Promise<Result | null> {
  try {
    return await act;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** True if `path` is below `folder`. Both must be absolute and resolved, because links and `..` are not followed. */
export const isInside = (path: string, folder: string): boolean =>
  path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

export const namesIn = async (folder: string): Promise<string[]> => (await ifThere(readdir(folder))) ?? [];

/** Milliseconds since the last change of a file or folder. Null if the path cannot be read. */
export async function ageOf(path: string, nowMs = Date.now()): Promise<number | null> {
  const info = await stat(path).catch(() => null);
  return info && nowMs - info.mtimeMs;
}

/** Without O_NONBLOCK, a FIFO would block the thread until somebody writes to it. */
export const openNamed = (file: string): Promise<FileHandle> => open(file, constants.O_RDONLY | constants.O_NONBLOCK);

export const readIfThere = async (file: string): Promise<string | null> =>
  (await readBytesIfThere(file))?.toString('utf8') ?? null;

/** @throws DocshelfError `cannot_read` for a folder, because the error of read(2) does not name the path; NodeJS.ErrnoException */
export const readBytesIfThere = (file: string): Promise<Buffer<ArrayBuffer> | null> =>
  ifThere(readFile(file)).catch((error: unknown) => {
    if (errnoOf(error) !== 'EISDIR') throw error;
    const next = 'Move the folder away, then restore the file from a backup if you have one.';
    throw new DocshelfError('cannot_read', `Cannot read "${file}": it is a folder`, { next, cause: error });
  });

export async function readBeginning(file: string, bytesMax: number): Promise<Buffer> {
  await using handle = await openNamed(file);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytesMax), 0, bytesMax, 0);
  return buffer.subarray(0, bytesRead);
}

export async function collect(
  stream: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<Buffer<ArrayBuffer> | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > bytesMax) return null;
  }
  return Buffer.concat(chunks);
}

/** Sorted relative paths of all files in `folder` and its subfolders, with `/` between segments. */
export async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}

/** Bytes per read. With the default of 64 KiB, hashing an archive takes 1.5 times as long. */
const CHUNK_BYTES = 1024 ** 2;

export async function hashFile(file: string, algorithm: string, signal?: AbortSignal): Promise<Hash> {
  const hash = createHash(algorithm);
  const chunks = createReadStream(file, { highWaterMark: CHUNK_BYTES });
  try {
    await pipeline(chunks, hash, signal === undefined ? {} : { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
  return hash;
}

/** SHA-256, 64 lower-case hex digits. @throws NodeJS.ErrnoException if the file cannot be read, the signal's reason */
export const digestFile = async (file: string, signal?: AbortSignal): Promise<string> =>
  (await hashFile(file, 'sha256', signal)).digest('hex');
