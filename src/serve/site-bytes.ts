import { type FileHandle, open, readFile } from 'node:fs/promises';
import { DocshelfError } from '../domain/errors.ts';
import { counted } from '../domain/text.ts';

export interface SiteFileOnDisk {
  readonly diskPath: string;
  readonly size: number;
}

const CHUNK_BYTES = 64 * 1024;

function unreadable(file: SiteFileOnDisk, cause: unknown): DocshelfError {
  if (cause instanceof DocshelfError) return cause;
  return new DocshelfError('cannot_read', `Cannot read "${file.diskPath}": ${(cause as Error).message}`, {
    next: 'See that the volume of storage.dir is mounted and readable.',
    cause,
  });
}

function otherSize(file: SiteFileOnDisk, size: number): DocshelfError {
  return new DocshelfError(
    'release_damaged',
    `Cannot serve "${file.diskPath}": it has ${counted(size, 'byte')}, its release says ${file.size}`,
    { next: 'Import the bundle again: something changed the files of the release.' },
  );
}

/** A whole file, its digest unchecked. @throws DocshelfError `cannot_read`; `release_damaged` where it has another size. */
export async function readSiteFile(file: SiteFileOnDisk): Promise<Buffer<ArrayBuffer>> {
  const bytes = await readFile(file.diskPath).catch((error: unknown) => {
    throw unreadable(file, error);
  });
  if (bytes.length !== file.size) throw otherSize(file, bytes.length);
  return bytes;
}

/**
 * Part of a file, exactly `length` bytes or an error: a short file breaks the connection.
 * @param onFault told of faults after the first byte, when no status can say them
 * @throws DocshelfError as `readSiteFile`, before the first byte
 */
export async function openFilePart(
  file: SiteFileOnDisk,
  start: number,
  length: number,
  onFault: (error: DocshelfError) => void,
): Promise<FilePart> {
  const handle = await open(file.diskPath).catch((error: unknown) => {
    throw unreadable(file, error);
  });
  try {
    const { size } = await handle.stat();
    if (size !== file.size) throw otherSize(file, size);
  } catch (error) {
    await handle.close();
    throw unreadable(file, error);
  }
  return new FilePart(handle, file, { start, end: start + length, onFault });
}

interface PartRange {
  readonly start: number;
  readonly end: number;
  readonly onFault: (error: DocshelfError) => void;
}

/** Read once, by one reader, which closes it where it leaves it before the end. */
export class FilePart {
  readonly #handle: FileHandle;
  readonly #file: SiteFileOnDisk;
  readonly #range: PartRange;
  #at: number;

  constructor(handle: FileHandle, file: SiteFileOnDisk, range: PartRange) {
    this.#handle = handle;
    this.#file = file;
    this.#range = range;
    this.#at = range.start;
  }

  /** Zero bytes are the end. @throws DocshelfError as `readSiteFile` */
  async read(into: Buffer): Promise<number> {
    const { end, onFault } = this.#range;
    const wanted = Math.min(into.length, end - this.#at);
    try {
      if (wanted === 0) {
        await this.close();
        return 0;
      }
      const { bytesRead } = await this.#handle.read(into, 0, wanted, this.#at);
      if (bytesRead === 0) throw otherSize(this.#file, (await this.#handle.stat()).size);
      this.#at += bytesRead;
      return bytesRead;
    } catch (error) {
      await this.close();
      const fault = unreadable(this.#file, error);
      onFault(fault);
      throw fault;
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  /** With backpressure. */
  toStream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        pull: async (controller) => {
          const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
          const bytes = await this.read(chunk);
          if (bytes > 0) controller.enqueue(chunk.subarray(0, bytes));
          else controller.close();
        },
        cancel: () => this.close(),
      },
      { highWaterMark: 0 },
    );
  }
}

/** Whoever has the socket may send the part without its stream, which costs five times as much. */
export class FileResponse extends Response {
  readonly part: FilePart;

  constructor(part: FilePart, init: ResponseInit) {
    super(part.toStream(), init);
    this.part = part;
  }
}

/** @param part null: the head alone */
export function fileResponse(part: FilePart | null, init: ResponseInit): Response {
  return part === null ? new Response(null, init) : new FileResponse(part, init);
}
