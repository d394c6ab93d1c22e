import { createGzip } from 'node:zlib';
import { pumped } from './decompress.ts';

/** Bytes that zlib is given and gives at once: with pieces as small as tar's, the way to its thread takes longer than the work. */
const CHUNK_BYTES = 256 * 1024;
/** RFC 1952, section 2.3: deflate, no flags, no time, no word on effort, system unknown. zlib names the machine's system. */
const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);

/**
 * One gzip member. The bytes depend on the content, the level and the version of
 * zlib, not on how the content comes in chunks.
 */
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
