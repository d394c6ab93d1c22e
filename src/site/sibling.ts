import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, crc32, createBrotliDecompress, createInflateRaw, createZstdDecompress } from 'node:zlib';
import type { FileEntry } from '../domain/release.ts';
import type { Coding, Form } from './encoding.ts';
import type { SiteFileOnDisk } from './site-bytes.ts';

/** Extensions of compressed files. If the bundle contains `app.js.br`, docshelf sends it instead of compressing `app.js`. */
export const SIBLING_EXTENSION: Readonly<Record<Coding, string>> = { gzip: '.gz', br: '.br', zstd: '.zst' };

export interface Sibling extends Form {
  readonly onDisk: SiteFileOnDisk;
}

type Content = Pick<FileEntry, 'size' | 'sha256'>;

const CHUNK_BYTES = 256 * 1024;
const MAGIC = 0x1f8b08;
const HEADER_BYTES = 10;
const TRAILER_BYTES = 8;
/** Maximum gzip header, which can include a file name and a comment. No common program writes a longer header. */
const HEADER_BYTES_MAX = 1024;
const FLAGS = { checksum: 2, extra: 4, name: 8, comment: 16, reserved: 0xe0 };

const DECODERS: Readonly<Record<Coding, () => Duplex>> = {
  // Do not use `createGunzip`, because it decodes all gzip members of a file, but browsers decode only the first member.
  gzip: createInflateRaw,
  br: createBrotliDecompress,
  // Allow a Zstandard window of at most 8 MB, because clients need not support a larger one (RFC 9659).
  zstd: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: 23 } }),
};

/** True if clients decode `file` to exactly `content`. Stops at the first byte beyond `content.size`. Never rejects. */
export async function decodesTo(content: Content, file: SiteFileOnDisk, coding: Coding): Promise<boolean> {
  try {
    const [start, trailer] = coding === 'gzip' ? await gzipFrame(file) : [0, null];
    const decoder = DECODERS[coding]();
    let crc = 0;
    await pipeline(
      createReadStream(file.diskPath, { start, highWaterMark: CHUNK_BYTES }),
      decoder,
      checked(content),
      async (chunks: AsyncIterable<Buffer>) => {
        for await (const chunk of chunks) crc = crc32(chunk, crc);
      },
    );
    // The decoder ignores bytes after the encoded data, but clients do not, so reject such a file.
    const { bytesWritten } = decoder as Duplex & { readonly bytesWritten: number };
    if (start + bytesWritten + (trailer?.length ?? 0) !== file.size) return false;
    return trailer === null || (trailer.readUInt32LE(0) === crc && trailer.readUInt32LE(4) === content.size % 2 ** 32);
  } catch {
    return false;
  }
}

async function gzipFrame({ diskPath, size }: SiteFileOnDisk): Promise<readonly [start: number, trailer: Buffer]> {
  await using handle = await open(diskPath);
  const header = Buffer.alloc(HEADER_BYTES_MAX);
  const trailer = Buffer.alloc(TRAILER_BYTES);
  await handle.read(header, 0, header.length, 0);
  await handle.read(trailer, 0, trailer.length, Math.max(0, size - trailer.length));
  return [gzipDataStart(header), trailer];
}

function gzipDataStart(header: Buffer): number {
  const flags = header.readUInt8(3);
  if (header.readUIntBE(0, 3) !== MAGIC || (flags & FLAGS.reserved) !== 0) throw new RangeError('no gzip header');
  let at = HEADER_BYTES;
  if (flags & FLAGS.extra) at += 2 + header.readUInt16LE(at);
  for (const text of [FLAGS.name, FLAGS.comment]) {
    if (!(flags & text)) continue;
    const end = header.indexOf(0, at);
    if (end === -1) throw new RangeError('a gzip header without an end');
    at = end + 1;
  }
  return flags & FLAGS.checksum ? at + 2 : at;
}

/** Yields the bytes of a decoder. @throws Error if these bytes differ from the content */
function checked({ size, sha256 }: Content) {
  return async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > size) break;
      hash.update(chunk);
      yield chunk;
    }
    if (bytes !== size || hash.digest('hex') !== sha256) throw new Error('not the bytes of the file');
  };
}
