import { type FileHandle, open } from 'node:fs/promises';
import { DocshelfError } from '../domain/errors.ts';
import type { ArchiveLimits } from '../domain/limits.ts';
import { showName } from '../domain/secret.ts';
import { type Refuse, refusalsOf } from './rules.ts';

const READ_BYTES = 256 * 1024;
/**
 * Bytes to read at once if the read starts near the previous one. Zip headers are close together, so a large read saves many
 * system calls.
 */
const WINDOW_BYTES = 128 * 1024;
/** Bytes to read at once far from the previous read. Small, because a hostile archive can have a million headers in any order. */
const JUMP_BYTES = 4 * 1024;

export interface OpenOptions {
  /** File name of the archive in error messages, never its URL. */
  readonly name: string;
  readonly act?: 'verify' | 'inspect';
  readonly limits: ArchiveLimits;
  readonly isVerified?: boolean;
  readonly signal?: AbortSignal;
}

/** Reads an archive up to the size of the file when it is opened, and ignores bytes that are added later. */
export class ArchiveFile implements AsyncDisposable {
  readonly bytes: number;
  readonly limits: ArchiveLimits;
  readonly isVerified: boolean;
  readonly signal: AbortSignal | undefined;
  readonly refuse: Refuse;
  onRead: ((doneBytes: number) => void) | undefined;
  readonly #handle: FileHandle;

  private constructor(
    handle: FileHandle,
    bytes: number,
    { name, act, limits, isVerified = false, signal }: OpenOptions,
  ) {
    this.#handle = handle;
    this.bytes = bytes;
    this.limits = limits;
    this.isVerified = isVerified;
    this.signal = signal;
    this.refuse = refusalsOf(name, act);
  }

  static async open(file: string, options: OpenOptions): Promise<ArchiveFile> {
    try {
      const handle = await open(file, 'r');
      const stat = await handle.stat();
      if (stat.isFile()) return new ArchiveFile(handle, stat.size, options);
      await handle.close();
    } catch (cause) {
      throw cannotRead(options.name, cause instanceof Error ? cause.message : String(cause), cause);
    }
    throw cannotRead(options.name, 'it is not a file');
  }

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

  async *chunks(start = 0, end = this.bytes): AsyncGenerator<Buffer> {
    for (let at = start; at < end; ) {
      this.signal?.throwIfAborted();
      const chunk = await this.read(at, Math.min(READ_BYTES, end - at));
      if (chunk.length === 0) return;
      at += chunk.length;
      this.onRead?.(at);
      yield chunk;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}

export class ReadAhead {
  readonly #archive: ArchiveFile;
  #window: Buffer = Buffer.alloc(0);
  #start = 0;

  constructor(archive: ArchiveFile) {
    this.#archive = archive;
  }

  async read(position: number, count: number): Promise<Buffer> {
    const end = this.#start + this.#window.length;
    const isBehindStart = position >= this.#start;
    if (!isBehindStart || position + count > end) {
      const isNear = isBehindStart && position < end + WINDOW_BYTES;
      this.#window = await this.#archive.read(position, Math.max(count, isNear ? WINDOW_BYTES : JUMP_BYTES));
      this.#start = position;
    }
    const from = position - this.#start;
    return this.#window.subarray(from, from + count);
  }
}

function cannotRead(archiveName: string, state: string, cause?: unknown): DocshelfError {
  return new DocshelfError('cannot_read', `Cannot read "${showName(archiveName)}": ${state}`, {
    next: 'Check that the file exists and that docshelf can read it.',
    cause,
  });
}
