import { createReadStream, readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, crc32, createBrotliCompress, createGzip, gzipSync } from 'node:zlib';
import type { FileEntry } from '../../domain/release.ts';
import { isCompressible } from '../../web/compressible.ts';
import type { Coding } from '../encoding.ts';
import type { SiteFileOnDisk } from '../site-bytes.ts';
import { checked, checkedWhole } from './checked-content.ts';
import { CHUNK_BYTES, HEADER_BYTES, variantHeader } from './variant-file.ts';

type Source = FileEntry & SiteFileOnDisk;

/** In one piece, without streams and the pool: 10,000 pages of 9 KB took three times as long with them. */
const WHOLE_BYTES_MAX = 256 * 1024;
/** Above that Brotli 11, at .5 MB/s, would be at it for more than a minute; 9 has 20 MB/s. */
const BEST_BYTES_MAX = 32 * 1024 ** 2;
/** Smaller ones are checked whole wherever they are read; larger ones may be sent by their size alone. */
const FLUSHED_BYTES_MIN = 1024 ** 2;
const HEAD_BYTES = 16;

/** @param to where no file is yet @returns bytes of the form, which is of no use where they are as many as before; null where the content is compressed already @throws OtherBytes */
export async function compressFile(source: Source, to: string, coding: Coding): Promise<number | null> {
  if (source.size > WHOLE_BYTES_MAX) {
    if (!isCompressible(source.type, await headOf(source))) return null;
    return write(source, to, compressorOf(coding, source.size));
  }
  const content = checkedWhole(source, readFileSync(source.diskPath));
  if (!isCompressible(source.type, content)) return null;
  const body = await compressed(content, coding);
  writeFileSync(to, Buffer.concat([variantHeader(body.length, crc32(body)), body]), { flag: 'wx' });
  return body.length;
}

/** As it is: a bundle's own form. @returns its bytes @throws OtherBytes */
export function copyChecked(source: Source, to: string): Promise<number> {
  return write(source, to, null);
}

async function write(source: Source, to: string, transform: Duplex | null): Promise<number> {
  await using handle = await open(to, 'wx');
  let [bytes, crc] = [0, 0];
  const take = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) {
      crc = crc32(chunk, crc);
      await handle.write(chunk, 0, chunk.length, HEADER_BYTES + bytes);
      bytes += chunk.length;
    }
  };
  const read = checked(source)(createReadStream(source.diskPath, { highWaterMark: CHUNK_BYTES }));
  await (transform === null ? take(read) : pipeline(read, transform, take));
  await handle.write(variantHeader(bytes, crc), 0, HEADER_BYTES, 0);
  if (bytes >= FLUSHED_BYTES_MIN) await handle.sync();
  return bytes;
}

async function headOf({ diskPath }: Source): Promise<Buffer> {
  await using handle = await open(diskPath);
  return (await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)).buffer;
}

const brotli = promisify(brotliCompress);

/** Brotli would hold the thread for half a second. */
async function compressed(bytes: Buffer, coding: Coding): Promise<Buffer> {
  return coding === 'gzip' ? gzipSync(bytes, GZIP) : brotli(bytes, brotliOf(bytes.length));
}

const GZIP = { level: constants.Z_BEST_COMPRESSION };

function brotliOf(size: number) {
  const quality = size > BEST_BYTES_MAX ? 9 : constants.BROTLI_MAX_QUALITY;
  return { params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: size } };
}

function compressorOf(coding: Coding, size: number): Duplex {
  return coding === 'gzip' ? createGzip(GZIP) : createBrotliCompress(brotliOf(size));
}
