import { crc32 } from 'node:zlib';
import { type Block, cutBlocks } from './deflate-block.ts';
import type { DeflateThreads } from './deflate-threads.ts';
import { mapAhead } from './map-ahead.ts';

/** RFC 1952, section 2.3: deflate, no flags, no time, no word on effort, system unknown. The same on every machine. */
const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);

/**
 * One gzip member, compressed in blocks side by side. Its bytes depend on the content, the level and the version of zlib,
 * not on the threads, nor on how the content comes in chunks.
 */
export async function* gzipBlocks(
  chunks: AsyncIterable<Uint8Array>,
  level: number,
  threads: DeflateThreads,
): AsyncGenerator<Uint8Array> {
  let crc = 0;
  let sizeBytes = 0;
  const deflate = (block: Block) => {
    // Before the block is given away. At some GB/s not worth a thread.
    const piece = block.bytes.subarray(block.windowBytes);
    crc = crc32(piece, crc);
    sizeBytes += piece.length;
    return threads.deflate(block);
  };
  yield HEADER;
  yield* mapAhead(cutBlocks(chunks, level), threads.blocksMax, deflate);
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc, 0);
  // ISIZE is modulo 2^32.
  trailer.writeUInt32LE(sizeBytes % 2 ** 32, 4);
  yield trailer;
}
