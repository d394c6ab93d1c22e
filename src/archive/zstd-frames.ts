import type { ByteCursor } from './byte-cursor.ts';
import type { Refuse } from './refuse.ts';

/** The frames of a zstd stream (RFC 8878, section 3.1), told apart without decoding them. */

export const ZSTD_MAGIC = 0xfd2fb528;
/** RFC 8878, section 3.1.1.2.3: no block is larger. */
const BLOCK_BYTES_MAX = 128 * 1024;
const BLOCK_RLE = 1;
const BLOCK_RESERVED = 3;

export function isSkippableMagic(magic: number): boolean {
  return magic >>> 4 === 0x184d2a5;
}

/**
 * The bytes of one frame, header to checksum, as they pass; the cursor stands behind its magic number.
 *
 * @throws DocshelfError `window_too_large`, `truncated`, `damaged_archive`
 */
export async function* frameBytes(cursor: ByteCursor, windowBytesMax: number, refuse: Refuse): AsyncGenerator<Buffer> {
  const take = async (count: number): Promise<Buffer> => {
    const bytes = await cursor.take(count);
    if (bytes.length < count) throw refuse('truncated', 'it is cut off inside a zstd frame');
    return bytes;
  };
  const magic = Buffer.alloc(4);
  magic.writeUInt32LE(ZSTD_MAGIC);

  const descriptor = await take(1);
  const flags = descriptor[0] ?? 0;
  const isSingleSegment = (flags & 0x20) !== 0;
  const hasChecksum = (flags & 0x04) !== 0;
  const dictionaryBytes = [0, 1, 2, 4][flags & 3] ?? 0;
  const contentSizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][flags >>> 6] ?? 0;
  const rest = await take((isSingleSegment ? 0 : 1) + dictionaryBytes + contentSizeBytes);
  const windowBytes = isSingleSegment ? readContentSize(rest.subarray(dictionaryBytes)) : readWindow(rest[0] ?? 0);
  if (windowBytes > windowBytesMax) {
    throw refuse('window_too_large', `it asks for a zstd window of ${windowBytes} bytes, more than ${windowBytesMax}`);
  }
  yield Buffer.concat([magic, descriptor, rest]);

  for (let isLast = false; !isLast; ) {
    const header = await take(3);
    yield header;
    const word = header.readUIntLE(0, 3);
    isLast = (word & 1) === 1;
    const type = (word >>> 1) & 3;
    const size = word >>> 3;
    if (type === BLOCK_RESERVED || size > BLOCK_BYTES_MAX) {
      throw refuse('damaged_archive', 'it has a zstd block of no known kind');
    }
    yield await take(type === BLOCK_RLE ? 1 : size);
  }
  if (hasChecksum) yield await take(4);
}

/** RFC 8878, section 3.1.1.1.2. */
function readWindow(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >>> 3));
  return base + (base / 8) * (descriptor & 7);
}

/** RFC 8878, section 3.1.1.1.4: the two-byte form begins at 256. */
function readContentSize(field: Buffer): number {
  if (field.length === 8) return Number(field.readBigUInt64LE());
  return field.readUIntLE(0, field.length) + (field.length === 2 ? 256 : 0);
}
