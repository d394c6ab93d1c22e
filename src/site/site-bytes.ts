import { type FileHandle, open, readFile } from 'node:fs/promises';
import { DocshelfError, nextFor } from '../domain/errors.ts';
import { counted } from '../domain/text.ts';
import { Scheduler } from '../threads/scheduler.ts';

export interface SiteFileOnDisk {
  readonly diskPath: string;
  readonly size: number;
}

const CHUNK_BYTES = 64 * 1024;

function unreadable(file: SiteFileOnDisk, cause: unknown): DocshelfError {
  if (cause instanceof DocshelfError) return cause;
  return new DocshelfError('cannot_read', `Cannot read "${file.diskPath}": ${(cause as Error).message}`, {
    next: nextFor(cause, 'Check that the volume of storage.dir is mounted and readable.'),
    cause,
  });
}

function otherSize(file: SiteFileOnDisk, size: number): DocshelfError {
  return new DocshelfError(
    'release_damaged',
    `Cannot serve "${file.diskPath}": it has ${counted(size, 'byte')} instead of ${file.size}`,
    {
      next: 'Import the bundle of this version again, because a file of the release changed on disk. Also check the disk.',
    },
  );
}

/** Reads a file without checking its digest. @throws DocshelfError `cannot_read`; `release_damaged` if the size is wrong */
export async function readSiteFile(file: SiteFileOnDisk): Promise<Buffer<ArrayBuffer>> {
  const bytes = await readFile(file.diskPath).catch((error: unknown) => {
    throw unreadable(file, error);
  });
  if (bytes.length !== file.size) throw otherSize(file, bytes.length);
  return bytes;
}

interface PartRange {
  readonly start: number;
  readonly end: number;
  /** Called if a read fails after the part was opened. The connection then breaks. */
  readonly onFault: (error: DocshelfError) => void;
}

const OPEN_MAX = 256;
const READS_MAX = 64;

class OpenFiles {
  readonly #reads = new Scheduler(READS_MAX);
  readonly #idle = new Set<FilePart>();

  async use<Result>(part: FilePart, act: () => Promise<Result>): Promise<Result> {
    const result = await this.#reads.run(() => {
      this.#idle.delete(part);
      return act();
    });
    this.#idle.add(part);
    const [first] = this.#idle;
    if (first !== undefined && this.#idle.size > OPEN_MAX) await first.leave();
    return result;
  }

  left(part: FilePart): void {
    this.#idle.delete(part);
  }
}
const files = new OpenFiles();

export class FilePart implements BodySource {
  #handle: FileHandle | null = null;
  #inode: bigint | null = null;
  readonly #file: SiteFileOnDisk;
  readonly #range: PartRange;
  #at: number;
  #isClosed = false;

  private constructor(file: SiteFileOnDisk, range: PartRange) {
    this.#file = file;
    this.#range = range;
    this.#at = range.start;
  }

  /** Opens a part of a file to send. @throws DocshelfError `cannot_read`, `release_damaged` */
  static async open(file: SiteFileOnDisk, range: PartRange): Promise<FilePart> {
    const part = new FilePart(file, range);
    try {
      await part.#use(async () => undefined);
      return part;
    } catch (error) {
      await part.close();
      throw unreadable(file, error);
    }
  }

  /** Reads the next bytes of the part. Returns 0 at its end. @throws DocshelfError `cannot_read`, `release_damaged` */
  async read(into: Buffer): Promise<number> {
    const { end, onFault } = this.#range;
    const wanted = Math.min(into.length, end - this.#at);
    try {
      if (wanted === 0) {
        await this.close();
        return 0;
      }
      const bytesRead = await this.#use(async (handle) => {
        const found = await handle.read(into, 0, wanted, this.#at);
        if (found.bytesRead === 0) throw otherSize(this.#file, (await handle.stat()).size);
        return found.bytesRead;
      });
      this.#at += bytesRead;
      return bytesRead;
    } catch (error) {
      await this.close();
      const fault = unreadable(this.#file, error);
      onFault(fault);
      throw fault;
    }
  }

  async #use<Result>(act: (handle: FileHandle) => Promise<Result>): Promise<Result> {
    const result = await files.use(this, async () => {
      this.#handle ??= await this.#opened();
      return act(this.#handle);
    });
    if (this.#isClosed) await this.leave();
    return result;
  }

  /** Opens the file, again if needed. @throws Error if the size is wrong, or if the file was replaced since it was first opened */
  async #opened(): Promise<FileHandle> {
    const handle = await open(this.#file.diskPath);
    try {
      const { size, ino } = await handle.stat({ bigint: true });
      if (Number(size) !== this.#file.size) throw otherSize(this.#file, Number(size));
      if (this.#inode !== null && ino !== this.#inode) throw new Error('it was replaced while it was sent');
      this.#inode = ino;
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async leave(): Promise<void> {
    files.left(this);
    const handle = this.#handle;
    this.#handle = null;
    await handle?.close();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.leave();
  }
}

/** Body to send in parts, such as a file on disk. */
interface BodySource {
  /** Reads the next bytes. Returns 0 at the end of the body. */
  read(into: Buffer): Promise<number>;
  close(): Promise<void>;
}

class BytesSource implements BodySource {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  async read(into: Buffer): Promise<number> {
    const copied = this.#bytes.copy(into, 0, this.#at);
    this.#at += copied;
    return copied;
  }

  async close(): Promise<void> {}
}

export function streamOf(source: BodySource): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull: async (controller) => {
        const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
        const bytes = await source.read(chunk);
        if (bytes > 0) controller.enqueue(chunk.subarray(0, bytes));
        else controller.close();
      },
      cancel: () => source.close(),
    },
    { highWaterMark: 0 },
  );
}

/** The listener reads `source` directly, because sending the stream of a response takes five times as long. */
export class LargeResponse extends Response {
  readonly source: BodySource;

  constructor(source: BodySource, init: ResponseInit) {
    super(streamOf(source), init);
    this.source = source;
  }
}

/** Maximum bytes of a body that is sent as a whole. Larger bodies are sent in parts, because TLS and HTTP/2 copy their input. */
export const WHOLE_BYTES_MAX = 128 * 1024;

export function bytesResponse(bytes: Buffer<ArrayBuffer> | null, init: ResponseInit): Response {
  const isLarge = bytes !== null && bytes.length > WHOLE_BYTES_MAX;
  return isLarge ? new LargeResponse(new BytesSource(bytes), init) : new Response(bytes, init);
}

export function fileResponse(part: FilePart | null, init: ResponseInit): Response {
  return part === null ? new Response(null, init) : new LargeResponse(part, init);
}

/** Response that is completely in memory. */
export interface FastAnswer {
  readonly status: number;
  /** Names and values of headers in turn, as Node expects them. */
  readonly headers: readonly string[];
  readonly body: Buffer<ArrayBuffer> | null;
}

export function flatHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flat();
}

export function toResponse({ status, headers, body }: FastAnswer, method: string): Response {
  return bytesResponse(method === 'HEAD' ? null : body, { status, headers: toHeaders(headers) });
}

export function toHeaders(flat: readonly string[]): Headers {
  const fields = new Headers();
  for (let at = 0; at < flat.length; at += 2) fields.append(flat[at] ?? '', flat[at + 1] ?? '');
  return fields;
}

/** Redirects with `no-cache`. Browsers would otherwise keep a 301 or 308 forever, but the next version may not redirect. */
export function redirect(status: number, location: string): Response {
  return new Response(null, {
    status,
    headers: { Location: location, 'Content-Length': '0', 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding' },
  });
}
