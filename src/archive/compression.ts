import { pipeline, Readable } from 'node:stream';
import { constants, createGunzip, createGzip, createZstdDecompress } from 'node:zlib';
import type { ArchiveLimits } from '../domain/limits.ts';
import type { ArchiveFile } from './archive-file.ts';
import type { Refuse } from './rules.ts';

/** Bytes per call of zlib, which runs in another thread. For smaller chunks, the call takes longer than the compression. */
const CHUNK_BYTES = 256 * 1024;
/** Gzip header (RFC 1952, section 2.3) without time and operating system. zlib's header names the operating system. */
const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);

/** Compresses to one gzip member, whose bytes depend on content, level and zlib version, but not on the size of the chunks. */
export async function* gzip(chunks: AsyncIterable<Uint8Array>, level: number): AsyncGenerator<Buffer> {
  let isHeader = true;
  for await (const chunk of pumped(evenChunks(chunks), createGzip({ level, chunkSize: CHUNK_BYTES }))) {
    if (isHeader) chunk.set(HEADER);
    isHeader = false;
    yield chunk;
  }
}

async function* evenChunks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let even = Buffer.allocUnsafe(CHUNK_BYTES);
  let filled = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      const piece = chunk.subarray(at, at + even.length - filled);
      even.set(piece, filled);
      filled += piece.length;
      at += piece.length;
      if (filled < even.length) continue;
      yield even;
      even = Buffer.allocUnsafe(CHUNK_BYTES);
      filled = 0;
    }
  }
  yield even.subarray(0, filled);
}

export async function* gunzip(archive: ArchiveFile): AsyncGenerator<Buffer> {
  const decoder = createGunzip({ chunkSize: CHUNK_BYTES });
  try {
    yield* pumped(archive.chunks(), decoder);
  } catch (error) {
    throw gunzipRefusal(error, archive);
  }
  // Accept only zeros after the last gzip member. Check this here: after a member, Node ignores a zero and all bytes after it.
  for await (const rest of archive.chunks(decoder.bytesWritten)) {
    if (!isZeros(rest)) throw archive.refuse('trailing_garbage', TRAILING);
  }
}

export const isZeros = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);

const TRAILING = 'it has more bytes after its compressed data';

/** Distinguishes errors by the texts of zlib's messages, because zlib has one error code for all invalid content. */
function gunzipRefusal(error: unknown, { refuse }: ArchiveFile): unknown {
  const { code, message } = error as { code?: string; message?: string };
  const cause = { cause: error };
  if (code === 'Z_BUF_ERROR') return refuse('truncated', 'it is cut off inside its compressed data', cause);
  if (code === 'Z_DATA_ERROR') {
    if (message === 'incorrect data check') return refuse('wrong_crc', 'its checksum is wrong', cause);
    if (message === 'incorrect length check')
      return refuse('wrong_size', 'its declared size differs from its real size', cause);
    if (message === 'incorrect header check') return refuse('trailing_garbage', TRAILING, cause);
  }
  return code?.startsWith('Z_') ? refuse('damaged_archive', 'its compressed data are damaged', cause) : error;
}

/** Splits zstd streams (RFC 8878, section 3.1) into frames, which Node decodes. */

export const ZSTD_MAGIC = 0xfd2fb528;
const BLOCK_BYTES_MAX = 128 * 1024;
const BLOCK_RLE = 1;
const BLOCK_RESERVED = 3;
/**
 * Maximum frames of a stream, because each frame needs a new decoder. At 128 KiB per frame, the minimum of seekable zstd, a
 * stream can have 8 GiB.
 */
const FRAMES_MAX = 65_536;
const OUTPUT_BYTES = 256 * 1024;

/** Uses one decoder per frame, because Node's decoder drops a frame that starts in the chunk where the previous frame ends. */
export async function* unzstd(
  chunks: AsyncIterable<Buffer>,
  limits: ArchiveLimits,
  refuse: Refuse,
): AsyncGenerator<Buffer> {
  const cursor = new ByteCursor(chunks, refuse);
  for (let frames = 0; ; frames += 1) {
    const magic = await cursor.upTo(4);
    if (magic.length === 0) return;
    if (frames >= FRAMES_MAX) throw refuse('damaged_archive', `it has more than ${FRAMES_MAX} zstd frames`);
    const word = magic.length === 4 ? magic.readUInt32LE() : 0;
    if (word === ZSTD_MAGIC) {
      yield* decodeFrame(frameBytes(magic, cursor, limits.windowBytesMax, refuse), limits, refuse);
    } else if (isSkippableMagic(word)) {
      await cursor.skip((await cursor.take(4)).readUInt32LE());
    } else if (frames === 0) {
      throw refuse('truncated', CUT_OFF);
    } else {
      throw refuse('trailing_garbage', 'it has more bytes after its compressed data');
    }
  }
}

const CUT_OFF = 'it is cut off inside a zstd frame';

async function* decodeFrame(frame: AsyncIterable<Buffer>, limits: ArchiveLimits, refuse: Refuse) {
  const decoder = createZstdDecompress({
    chunkSize: OUTPUT_BYTES,
    params: { [constants.ZSTD_d_windowLogMax]: Math.ceil(Math.log2(limits.windowBytesMax)) },
  });
  try {
    yield* pumped(frame, decoder);
  } catch (error) {
    const code = (error as { code?: string }).code;
    if (code === 'ZSTD_error_checksum_wrong') throw refuse('wrong_crc', 'its checksum is wrong', { cause: error });
    if (!code?.startsWith('ZSTD_') && !code?.startsWith('Z_')) throw error;
    throw refuse('damaged_archive', 'its compressed data are damaged', { cause: error });
  }
}

export const isSkippableMagic = (magic: number): boolean => magic >>> 4 === 0x184d2a5;

/**
 * Yields the compressed bytes of a zstd frame. The cursor must be just after the magic number of the frame.
 * @throws DocshelfError `window_too_large`, `truncated`, `damaged_archive`
 */
async function* frameBytes(magic: Buffer, cursor: ByteCursor, windowBytesMax: number, refuse: Refuse) {
  const descriptor = await cursor.take(1);
  const flags = descriptor[0] ?? 0;
  const isSingleSegment = (flags & 0x20) !== 0;
  const hasChecksum = (flags & 0x04) !== 0;
  const dictionaryBytes = [0, 1, 2, 4][flags & 3] ?? 0;
  const contentSizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][flags >>> 6] ?? 0;
  const rest = await cursor.take((isSingleSegment ? 0 : 1) + dictionaryBytes + contentSizeBytes);
  const windowBytes = isSingleSegment ? readContentSize(rest.subarray(dictionaryBytes)) : readWindow(rest[0] ?? 0);
  if (windowBytes > windowBytesMax)
    throw refuse(
      'window_too_large',
      `it needs a zstd window of ${windowBytes} bytes, and the limit is ${windowBytesMax}`,
    );
  yield Buffer.concat([magic, descriptor, rest]);

  for (let isLast = false; !isLast; ) {
    const header = await cursor.take(3);
    yield header;
    const word = header.readUIntLE(0, 3);
    isLast = (word & 1) === 1;
    const type = (word >>> 1) & 3;
    const size = word >>> 3;
    if (type === BLOCK_RESERVED || size > BLOCK_BYTES_MAX)
      throw refuse('damaged_archive', 'it has a zstd block of an unknown kind');
    yield await cursor.take(type === BLOCK_RLE ? 1 : size);
  }
  if (hasChecksum) yield await cursor.take(4);
}

function readWindow(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >>> 3));
  return base + (base / 8) * (descriptor & 7);
}

/** RFC 8878, section 3.1.1.1.4: a size field of two bytes contains the size minus 256. */
function readContentSize(field: Buffer): number {
  if (field.length === 8) return Number(field.readBigUInt64LE());
  return field.readUIntLE(0, field.length) + (field.length === 2 ? 256 : 0);
}

class ByteCursor {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #refuse: Refuse;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>, refuse: Refuse) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#refuse = refuse;
  }

  async upTo(count: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let missing = count;
    while (missing > 0) {
      const part = await this.#some(missing);
      if (part === null) break;
      parts.push(part);
      missing -= part.length;
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  }

  async take(count: number): Promise<Buffer> {
    const bytes = await this.upTo(count);
    if (bytes.length < count) throw this.#refuse('truncated', CUT_OFF);
    return bytes;
  }

  async skip(count: number): Promise<void> {
    for (let missing = count; missing > 0; ) {
      const part = await this.#some(missing);
      if (part === null) throw this.#refuse('truncated', CUT_OFF);
      missing -= part.length;
    }
  }

  async #some(max: number): Promise<Buffer | null> {
    while (this.#rest.length === 0) {
      const next = await this.#chunks.next();
      if (next.done) return null;
      this.#rest = next.value;
    }
    const part = this.#rest.subarray(0, max);
    this.#rest = this.#rest.subarray(part.length);
    return part;
  }
}

async function* pumped(chunks: AsyncIterable<Buffer>, transform: NodeJS.ReadWriteStream): AsyncGenerator<Buffer> {
  // Ignore errors of pipeline, because pipeline also passes them to the transform, whose iterator throws them.
  pipeline(Readable.from(chunks, { objectMode: false }), transform, () => {});
  yield* transform as AsyncIterable<Buffer>;
}
