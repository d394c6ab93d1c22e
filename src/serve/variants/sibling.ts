import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, crc32, createBrotliDecompress, createInflateRaw, createZstdDecompress } from 'node:zlib';
import type { Coding } from '../encoding.ts';
import type { SiteFileOnDisk } from '../site-bytes.ts';
import { type Content, checked } from './checked-content.ts';
import { CHUNK_BYTES } from './variant-file.ts';

/** Of a gzip member (RFC 1952, section 2.3). */
const MAGIC = 0x1f8b08;
const HEADER_BYTES = 10;
const TRAILER_BYTES = 8;
/** The file's name and a comment may stand in it; no program that compresses writes a longer one. */
const HEADER_BYTES_MAX = 1024;
const FLAGS = { checksum: 2, extra: 4, name: 8, comment: 16, reserved: 0xe0 };

const DECODERS: Readonly<Record<Coding, () => Duplex>> = {
  // Of one member: of several, browsers read the first alone, and createGunzip() all.
  gzip: createInflateRaw,
  br: createBrotliDecompress,
  // RFC 9659: no client needs to have a larger window.
  zstd: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: 23 } }),
};

/** True where a file of a bundle decodes to that content, and clients read all of it. Never rejects. */
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
    // What follows the end of the encoded bytes is passed over here, and by no client.
    const { bytesWritten } = decoder as Duplex & { readonly bytesWritten: number };
    if (start + bytesWritten + (trailer?.length ?? 0) !== file.size) return false;
    return trailer === null || (trailer.readUInt32LE(0) === crc && trailer.readUInt32LE(4) === content.size % 2 ** 32);
  } catch {
    return false;
  }
}

/** Where the data of a gzip file begin, and what is to follow them. @throws Error where its header is none */
async function gzipFrame({ diskPath, size }: SiteFileOnDisk): Promise<readonly [start: number, trailer: Buffer]> {
  await using handle = await open(diskPath);
  const header = Buffer.alloc(HEADER_BYTES_MAX);
  const trailer = Buffer.alloc(TRAILER_BYTES);
  await handle.read(header, 0, header.length, 0);
  await handle.read(trailer, 0, trailer.length, Math.max(0, size - trailer.length));
  return [gzipDataStart(header), trailer];
}

/** @throws RangeError where it does not end */
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
