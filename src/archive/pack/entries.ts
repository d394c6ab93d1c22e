import { createHash, hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';
import { showName } from '../../domain/secret.ts';
import { counted } from '../../domain/text.ts';
import { mapAhead } from '../../files/lanes.ts';

/** A file to pack: its bytes, or where they lie. Its path in the archive is canonical, `/` between segments. */
export type PackEntry =
  | { readonly path: string; readonly bytes: Uint8Array }
  | {
      readonly path: string;
      readonly file: string;
      readonly size: number;
      /** 64 lower-case hex digits; where it is given, the content must have it. */
      readonly sha256?: string;
    };

/** Chunks of `content` are exactly `size` bytes together. */
export interface OpenedEntry {
  readonly path: string;
  readonly size: number;
  readonly content: Buffer | AsyncIterable<Buffer>;
}

type FileEntry = Extract<PackEntry, { file: string }>;

const SMALL_BYTES_MAX = 512 * 1024;
/** Files that are read at once: opening, reading and closing wait on the disk. With the size above, 8 MiB of memory. */
const READING_MAX = 16;
const CHUNK_BYTES = 256 * 1024;

/**
 * Reads small files ahead.
 * @throws DocshelfError `cannot_read` for a file that differs from its entry; the signal's reason
 */
export function openEntries(
  entries: Iterable<PackEntry> | AsyncIterable<PackEntry>,
  signal: AbortSignal | undefined,
): AsyncGenerator<OpenedEntry> {
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
  // One byte more than there should be tells a file that has grown.
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
    // Before it is handed on: the header has declared the size.
    if (readBytes > entry.size) throw changed(entry, `it has more than ${counted(entry.size, 'byte')}`);
    const chunk = buffer.subarray(0, bytesRead);
    if (entry.sha256 !== undefined) digest.update(chunk);
    yield chunk;
  }
  checkContent(entry, readBytes, () => digest.digest('hex'));
}

function checkContent(entry: FileEntry, readBytes: number, digestOf: () => string): void {
  if (readBytes !== entry.size) {
    const found = readBytes > entry.size ? `more than ${entry.size}` : readBytes;
    throw changed(entry, `it has ${found} bytes, not ${entry.size}`);
  }
  if (entry.sha256 !== undefined && digestOf() !== entry.sha256) throw changed(entry, 'it has other content');
}

function changed(entry: FileEntry, state: string): DocshelfError {
  return new DocshelfError('cannot_read', `Cannot pack "${showName(entry.path)}": ${state} than when it was listed`, {
    next: 'Start the export again, and leave its files alone meanwhile; if it fails again, check the disk.',
  });
}

function unreadable(entry: FileEntry): (cause: unknown) => never {
  return (cause) => {
    throw new DocshelfError('cannot_read', `Cannot pack "${showName(entry.path)}": ${errnoOf(cause) ?? 'failed'}`, {
      next: 'Check that the file is there and that docshelf may read it, and start the export again.',
      cause,
    });
  };
}
