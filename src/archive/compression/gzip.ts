import { createGunzip, createGzip } from 'node:zlib';
import type { ArchiveFile } from '../archive-file.ts';
import { isZeroBlock } from '../tar/fields.ts';
import { pumped } from './pumped.ts';

/** Bytes that zlib takes and gives at once: for pieces as small as tar's, the way to its thread takes longer than the work. */
const CHUNK_BYTES = 256 * 1024;
/** RFC 1952, section 2.3: deflate, no flags, no time, no word on effort, system unknown. zlib names the machine's system. */
const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);

/** One gzip member. Its bytes depend on the content, the level and the version of zlib, not on the chunks. */
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
  // Node ends a gzip stream at the first zero byte behind a member and drops what follows: only zeros may.
  for await (const rest of archive.chunks(decoder.bytesWritten)) {
    if (!isZeroBlock(rest)) throw archive.refuse('trailing_garbage', TRAILING);
  }
}

const TRAILING = 'it goes on after its compressed data';

/** zlib has one code for all faults of content, and tells them apart by these texts, which are constants of its source. */
function gunzipRefusal(error: unknown, { refuse }: ArchiveFile): unknown {
  const { code, message } = error as { code?: string; message?: string };
  const cause = { cause: error };
  if (code === 'Z_BUF_ERROR') return refuse('truncated', 'it is cut off inside its compressed data', cause);
  if (code === 'Z_DATA_ERROR') {
    if (message === 'incorrect data check') return refuse('wrong_crc', 'its checksum is wrong', cause);
    if (message === 'incorrect length check')
      return refuse('wrong_size', 'it declares another size than it has', cause);
    // The first header has been recognised as gzip's, so this one is behind a whole member.
    if (message === 'incorrect header check') return refuse('trailing_garbage', TRAILING, cause);
  }
  return code?.startsWith('Z_') ? refuse('damaged_archive', 'its compressed data are damaged', cause) : error;
}
