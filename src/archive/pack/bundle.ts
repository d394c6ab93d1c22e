import { createHash, randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { MANIFEST_PATH, OWN_FOLDER } from '../../domain/release.ts';
import { flushPath } from '../../files/index.ts';
import { gzip } from '../compression/gzip.ts';
import { openEntries, type PackEntry } from './entries.ts';
import { packTar } from './tar.ts';

/** Of zlib: 6 packs two built sites to 19.90 % at 72 MB/s, 9 to 19.79 % at 22, 4 to 20.90 % at 126. */
const LEVEL = 6;

export interface PackBundleOptions {
  /** In their final order, each path once; `archiveOrder` is the recommended one. */
  readonly entries: Iterable<PackEntry> | AsyncIterable<PackEntry>;
  /** Replaced where it is there; `<to>.<random>.part` lies beside it until it is whole. */
  readonly to: string;
  readonly level?: number;
  readonly signal?: AbortSignal;
  /** Called after each file with the bytes of the files so far, before compression. */
  readonly onProgress?: (doneBytes: number) => void;
}

export interface PackedArchive {
  readonly sha256: string;
  readonly sizeBytes: number;
}

/**
 * Packs a `.tar.gz`, reproducible for the same entries, level and version of zlib, in constant memory.
 * @throws DocshelfError `cannot_read` for a file that is not what its entry says; the signal's reason; leaves nothing
 */
export async function packBundle(options: PackBundleOptions): Promise<PackedArchive> {
  const { entries, to, level = LEVEL, signal, onProgress } = options;
  const part = `${to}.${randomBytes(6).toString('hex')}.part`;
  let packedBytes = 0;
  try {
    const tar = packTar(openEntries(entries, signal), (bytes) => {
      packedBytes += bytes;
      onProgress?.(packedBytes);
    });
    const packed = await writeFlushed(part, gzip(tar, level), signal);
    await rename(part, to);
    await flushPath(dirname(to));
    return packed;
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** Order for readers of a stream: the manifest, docshelf's own data, then the site, each by path (code units). */
export function archiveOrder(a: { readonly path: string }, b: { readonly path: string }): number {
  return rankOf(a.path) - rankOf(b.path) || (a.path < b.path ? -1 : Number(a.path > b.path));
}

function rankOf(path: string): number {
  if (path === MANIFEST_PATH) return 0;
  return path.startsWith(OWN_FOLDER) ? 1 : 2;
}

async function writeFlushed(
  file: string,
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<PackedArchive> {
  const digest = createHash('sha256');
  let sizeBytes = 0;
  await using handle = await open(file, 'wx', 0o644);
  for await (const chunk of chunks) {
    signal?.throwIfAborted();
    digest.update(chunk);
    sizeBytes += chunk.length;
    await handle.writeFile(chunk);
  }
  await handle.sync();
  return { sha256: digest.digest('hex'), sizeBytes };
}
