import { type FileHandle, open } from 'node:fs/promises';
import { DocshelfError } from '../domain/errors.ts';
import { showName } from '../domain/show-name.ts';

/** Bytes of one read. */
const READ_BYTES = 256 * 1024;

export interface ReadOptions {
  readonly signal: AbortSignal | undefined;
  /** Called with the bytes of the archive read so far. */
  readonly onRead?: (doneBytes: number) => void;
}

/** An archive on disk, open for reading. Its size is fixed when it is opened: what grows meanwhile is not read. */
export class ArchiveFile {
  readonly #handle: FileHandle;
  readonly bytes: number;

  private constructor(handle: FileHandle, bytes: number) {
    this.#handle = handle;
    this.bytes = bytes;
  }

  /** @throws DocshelfError `cannot_read` */
  static async open(file: string, archiveName: string): Promise<ArchiveFile> {
    try {
      const handle = await open(file, 'r');
      const stat = await handle.stat();
      if (stat.isFile()) return new ArchiveFile(handle, stat.size);
      await handle.close();
    } catch (cause) {
      throw cannotRead(archiveName, cause instanceof Error ? cause.message : String(cause), cause);
    }
    throw cannotRead(archiveName, 'it is not a file');
  }

  /** Up to `count` bytes at `position`; fewer only at the end. */
  async read(position: number, count: number): Promise<Buffer> {
    const wanted = Math.max(0, Math.min(count, this.bytes - position));
    const buffer = Buffer.allocUnsafe(wanted);
    let done = 0;
    while (done < wanted) {
      const { bytesRead } = await this.#handle.read(buffer, done, wanted - done, position + done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    return buffer.subarray(0, done);
  }

  /** The bytes from `start` up to `end`, the whole archive where they are not given. */
  async *chunks(options: ReadOptions, start = 0, end = this.bytes): AsyncGenerator<Buffer> {
    for (let at = start; at < end; ) {
      options.signal?.throwIfAborted();
      const chunk = await this.read(at, Math.min(READ_BYTES, end - at));
      if (chunk.length === 0) return;
      at += chunk.length;
      options.onRead?.(at);
      yield chunk;
    }
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

function cannotRead(archiveName: string, state: string, cause?: unknown): DocshelfError {
  return new DocshelfError('cannot_read', `Cannot read "${showName(archiveName)}": ${state}`, {
    next: 'Check that the file is there and that docshelf may read it.',
    cause,
  });
}

/** Bytes read ahead: zip headers lie close to each other, and one system call each would dominate. */
const WINDOW_BYTES = 128 * 1024;

/** Random reads of an archive through one buffer; made for positions that mostly rise. */
export class ReadWindow {
  readonly #archive: ArchiveFile;
  #start = 0;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(archive: ArchiveFile) {
    this.#archive = archive;
  }

  /** `count` bytes at `position`; fewer only at the archive's end. Valid after the next call too. */
  async read(position: number, count: number): Promise<Buffer> {
    const isInside = position >= this.#start && position + count <= this.#start + this.#bytes.length;
    if (!isInside) {
      this.#bytes = await this.#archive.read(position, Math.max(count, WINDOW_BYTES));
      this.#start = position;
    }
    const from = position - this.#start;
    return this.#bytes.subarray(from, from + count);
  }
}
