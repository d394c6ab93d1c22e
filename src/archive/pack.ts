import { createHash, hash, randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Header, type Pack, pack as tarPack } from 'tar-stream';
import { DocshelfError, errnoState, rethrowAs } from '../domain/errors.ts';
import { MANIFEST_PATH, OWN_FOLDER } from '../domain/release.ts';
import { showName } from '../domain/secret.ts';
import { counted } from '../domain/text.ts';
import { flushPath } from '../files/index.ts';
import { mapAhead } from '../files/lanes.ts';
import { gzip } from './compression.ts';

/** Measured with two sites: level 6 compresses to 19.90 % at 72 MB/s, level 9 to 19.79 % at 22 MB/s, level 4 to 20.90 % at 126 MB/s. */
const LEVEL = 6;

export interface PackBundleOptions {
  /** Entries in their final order, each path once. `archiveOrder` is the recommended order. */
  readonly entries: Iterable<PackEntry> | AsyncIterable<PackEntry>;
  /** Path of the archive. Replaces an existing file. The partial archive is in `<to>.<random>.part`. */
  readonly to: string;
  readonly level?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (doneBytes: number) => void;
}

export type PackedArchive = { readonly sha256: string; readonly sizeBytes: number };

/** Packs equal entries to identical bytes, in constant memory. After an error, deletes the partial archive. @throws DocshelfError `cannot_read` */
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

/**
 * Order for streaming readers: first the manifest, then other files of `_docshelf/`, then the site. Sorts each group by path
 * (code units).
 */
export const archiveOrder = (a: { readonly path: string }, b: { readonly path: string }): number =>
  rankOf(a.path) - rankOf(b.path) || (a.path < b.path ? -1 : Number(a.path > b.path));

function rankOf(path: string): number {
  if (path === MANIFEST_PATH) return 0;
  return path.startsWith(OWN_FOLDER) ? 1 : 2;
}

async function writeFlushed(file: string, chunks: AsyncIterable<Uint8Array>, signal: AbortSignal | undefined) {
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

export type PackEntry =
  | { readonly path: string; readonly bytes: Uint8Array }
  | {
      readonly path: string;
      readonly file: string;
      readonly size: number;
      /** Required SHA-256 of the content, 64 lower-case hex digits. */
      readonly sha256?: string;
    };

type OpenedEntry = { readonly path: string; readonly size: number; readonly content: Buffer | AsyncIterable<Buffer> };

type FileEntry = Extract<PackEntry, { file: string }>;

const SMALL_BYTES_MAX = 512 * 1024;
/** Number of small files to read concurrently, because each read waits for the disk. The files need up to 8 MiB of memory. */
const READING_MAX = 16;
const CHUNK_BYTES = 256 * 1024;

function openEntries(entries: Iterable<PackEntry> | AsyncIterable<PackEntry>, signal: AbortSignal | undefined) {
  return mapAhead(entries, READING_MAX, async (entry) => {
    signal?.throwIfAborted();
    const { path } = entry;
    if (!('file' in entry)) return { path, size: entry.bytes.length, content: bufferOf(entry.bytes) };
    const content = entry.size <= SMALL_BYTES_MAX ? await readWhole(entry) : readChunks(entry, signal);
    return { path, size: entry.size, content };
  });
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

async function readWhole(entry: FileEntry): Promise<Buffer> {
  // Read one byte more than expected, to detect a file that has grown.
  const buffer = Buffer.allocUnsafe(entry.size + 1);
  let filled = 0;
  await using handle = await open(entry.file, 'r').catch(unreadable(entry));
  while (filled < buffer.length) {
    const { bytesRead } = await handle.read(buffer, filled).catch(unreadable(entry));
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  const content = buffer.subarray(0, filled);
  checkContent(entry, filled, () => hash('sha256', content));
  return content;
}

async function* readChunks(entry: FileEntry, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  const digest = createHash('sha256');
  let readBytes = 0;
  await using handle = await open(entry.file, 'r').catch(unreadable(entry));
  for (;;) {
    signal?.throwIfAborted();
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    const { bytesRead } = await handle.read(buffer).catch(unreadable(entry));
    if (bytesRead === 0) break;
    readBytes += bytesRead;
    // If the file has grown, stop, because the tar header with the expected size is already written.
    if (readBytes > entry.size) throw changed(entry, `it grew to more than ${counted(entry.size, 'byte')}`);
    const chunk = buffer.subarray(0, bytesRead);
    if (entry.sha256 !== undefined) digest.update(chunk);
    yield chunk;
  }
  checkContent(entry, readBytes, () => digest.digest('hex'));
}

function checkContent(entry: FileEntry, readBytes: number, digestOf: () => string): void {
  if (readBytes !== entry.size) {
    const found = readBytes > entry.size ? `more than ${entry.size}` : readBytes;
    throw changed(entry, `its size changed from ${entry.size} to ${found} bytes`);
  }
  if (entry.sha256 !== undefined && digestOf() !== entry.sha256) throw changed(entry, 'its content changed');
}

function changed(entry: FileEntry, state: string): DocshelfError {
  return new DocshelfError('cannot_read', `Cannot pack "${showName(entry.path)}": ${state} during the export`, {
    next: 'Start the export again, and do not change the files of the site while the export runs. If it fails again, check the disk.',
  });
}

function unreadable(entry: FileEntry): (cause: unknown) => never {
  const next = 'Check that the file exists and that docshelf can read it, then start the export again.';
  return rethrowAs('cannot_read', `pack "${showName(entry.path)}"`, next, errnoState);
}

const EPOCH = new Date(0);

/** Writes ustar with fixed times, owners and modes, and pax headers for long names. @throws Error for a repeated path */
async function* packTar(entries: AsyncIterable<OpenedEntry>, onPacked: (bytes: number) => void) {
  const tar = tarPack();
  const adding = addAll(tar, entries, onPacked).then(
    () => tar.finalize(),
    (error: Error) => tar.destroy(error),
  );
  try {
    yield* tar as AsyncIterable<Buffer>;
  } finally {
    tar.destroy();
    await adding;
  }
}

async function addAll(tar: Pack, entries: AsyncIterable<OpenedEntry>, onPacked: (bytes: number) => void) {
  const paths = new Set<string>();
  for await (const entry of entries) {
    if (paths.has(entry.path)) throw new Error(`"${entry.path}" is packed twice`);
    paths.add(entry.path);
    const { path: name, size, content } = entry;
    await addEntry(tar, { name, size, mode: 0o644, mtime: EPOCH, uid: 0, gid: 0, type: 'file' }, content);
    onPacked(size);
  }
}

/** Resolves when the reader of the archive has accepted the entry, so that only one entry is in memory. */
export async function addEntry(
  tar: Pack,
  header: Partial<Header> & Pick<Header, 'name'>,
  content: Buffer | AsyncIterable<Buffer> = Buffer.alloc(0),
): Promise<void> {
  const accepted = Promise.withResolvers<void>();
  const onEnd = (error?: Error | null) => (error ? accepted.reject(error) : accepted.resolve());
  const isBuffer = Buffer.isBuffer(content);
  const entry = isBuffer ? tar.entry(header as Header, content, onEnd) : tar.entry(header as Header, onEnd);
  // If the archive fails, tar-stream reports the error twice, for the archive and for the current entry. Ignore the error of the entry.
  entry.on('error', () => undefined);
  await Promise.all([isBuffer ? null : pipeline(content, entry), accepted.promise]);
}
