import { pipeline, Readable } from 'node:stream';
import { constants, createGunzip, createZstdDecompress } from 'node:zlib';
import type { ArchiveLimits } from '../domain/limits.ts';
import type { ArchiveFile, ReadOptions } from './archive-file.ts';
import { ByteCursor } from './byte-cursor.ts';
import type { ArchiveFormat } from './listing.ts';
import type { Refuse } from './refuse.ts';
import { isZeroBlock } from './tar-fields.ts';
import { frameBytes, isSkippableMagic, ZSTD_MAGIC } from './zstd-frames.ts';

/** Bytes that a decoder hands out at once. */
const OUTPUT_BYTES = 256 * 1024;
/** Every frame costs a decoder. Seekable zstd writes frames of 128 KiB and more: 8 GiB are 65,536 of them. */
const FRAMES_MAX = 65_536;

/**
 * The tar inside an archive of format `tar`, `tar.gz` or `tar.zst`, bounded in ratio, every checksum verified.
 *
 * @throws DocshelfError `ratio_too_high`, `truncated`, `trailing_garbage`, `wrong_crc`, `wrong_size`,
 *   `window_too_large`, `damaged_archive`
 */
export async function* tarBytes(
  archive: ArchiveFile,
  format: Exclude<ArchiveFormat, 'zip'>,
  limits: ArchiveLimits,
  refuse: Refuse,
  options: ReadOptions,
): AsyncGenerator<Buffer> {
  if (format === 'tar') {
    yield* archive.chunks(options);
    return;
  }
  const plain =
    format === 'tar.gz' ? gunzip(archive, refuse, options) : unzstd(archive.chunks(options), limits, refuse);
  let bytes = 0;
  for await (const chunk of plain) {
    bytes += chunk.length;
    if (isRatioTooHigh(bytes, archive.bytes, limits)) {
      throw refuse('ratio_too_high', `it expands to more than ${limits.ratioMax} times its size`);
    }
    yield chunk;
  }
}

export function isRatioTooHigh(unpackedBytes: number, archiveBytes: number, limits: ArchiveLimits): boolean {
  return unpackedBytes > limits.ratioFreeBytes && unpackedBytes > limits.ratioMax * archiveBytes;
}

async function* gunzip(archive: ArchiveFile, refuse: Refuse, options: ReadOptions): AsyncGenerator<Buffer> {
  const decoder = createGunzip({ chunkSize: OUTPUT_BYTES });
  try {
    yield* pumped(archive.chunks(options), decoder);
  } catch (error) {
    throw gunzipRefusal(error, refuse);
  }
  // Node ends a gzip stream at the first zero byte behind a member and drops what follows: only zeros may.
  for await (const rest of archive.chunks(options, decoder.bytesWritten)) {
    if (!isZeroBlock(rest)) throw refuse('trailing_garbage', 'it goes on after its compressed data');
  }
}

/** zlib has one code for all faults of content, and tells them apart by these texts, which are constants of its source. */
function gunzipRefusal(error: unknown, refuse: Refuse): unknown {
  const { code, message } = error as { code?: string; message?: string };
  if (code === 'Z_BUF_ERROR') return refuse('truncated', 'it is cut off inside its compressed data', { cause: error });
  if (code === 'Z_DATA_ERROR' && message !== undefined) {
    if (message === 'incorrect data check') return refuse('wrong_crc', 'its checksum is wrong', { cause: error });
    if (message === 'incorrect length check') {
      return refuse('wrong_size', 'it declares another size than it has', { cause: error });
    }
    // The first header has been recognised as gzip's, so this one is behind a whole member.
    if (message === 'incorrect header check') {
      return refuse('trailing_garbage', 'it goes on after its compressed data', { cause: error });
    }
  }
  return code?.startsWith('Z_')
    ? refuse('damaged_archive', 'its compressed data are damaged', { cause: error })
    : error;
}

/**
 * Decodes frame by frame, each with a decoder of its own: Node's drops a second frame that arrives in the chunk that
 * ends the first, and decodes it when it arrives in the next.
 */
export async function* unzstd(
  chunks: AsyncIterable<Buffer>,
  limits: ArchiveLimits,
  refuse: Refuse,
): AsyncGenerator<Buffer> {
  const cursor = new ByteCursor(chunks);
  for (let frames = 0; ; frames += 1) {
    const magic = await cursor.take(4);
    if (magic.length === 0) return;
    if (frames >= FRAMES_MAX) throw refuse('damaged_archive', `it has more than ${FRAMES_MAX} zstd frames`);
    const word = magic.length === 4 ? magic.readUInt32LE() : 0;
    if (word === ZSTD_MAGIC) {
      yield* decodeFrame(frameBytes(cursor, limits.windowBytesMax, refuse), limits, refuse);
    } else if (isSkippableMagic(word)) {
      await skipFrame(cursor, refuse);
    } else if (frames === 0) {
      throw refuse('truncated', 'it is cut off inside a zstd frame');
    } else {
      throw refuse('trailing_garbage', 'it goes on after its compressed data');
    }
  }
}

async function skipFrame(cursor: ByteCursor, refuse: Refuse): Promise<void> {
  const size = await cursor.take(4);
  if (size.length < 4 || (await cursor.skip(size.readUInt32LE())) < size.readUInt32LE()) {
    throw refuse('truncated', 'it is cut off inside a zstd frame');
  }
}

async function* decodeFrame(
  frame: AsyncIterable<Buffer>,
  limits: ArchiveLimits,
  refuse: Refuse,
): AsyncGenerator<Buffer> {
  const decoder = createZstdDecompress({
    chunkSize: OUTPUT_BYTES,
    params: { [constants.ZSTD_d_windowLogMax]: Math.ceil(Math.log2(limits.windowBytesMax)) },
  });
  try {
    yield* pumped(frame, decoder);
  } catch (error) {
    const code = (error as { code?: string }).code;
    if (code === 'ZSTD_error_checksum_wrong') throw refuse('wrong_crc', 'its checksum is wrong', { cause: error });
    if (code?.startsWith('ZSTD_') || code?.startsWith('Z_')) {
      throw refuse('damaged_archive', 'its compressed data are damaged', { cause: error });
    }
    throw error;
  }
}

/** The output of a transform. A fault of either side is thrown to the reader, and both are closed when the reader stops. */
export async function* pumped(
  chunks: AsyncIterable<Buffer>,
  transform: NodeJS.ReadWriteStream,
): AsyncGenerator<Buffer> {
  // The callback is asked for so that a fault is not thrown twice: pipeline hands it to the transform, which we read.
  pipeline(Readable.from(chunks, { objectMode: false }), transform, () => {});
  yield* transform as AsyncIterable<Buffer>;
}
