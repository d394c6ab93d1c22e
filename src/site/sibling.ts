import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib';
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

const DECODERS: Readonly<Record<Coding, () => Duplex>> = {
  // Reject a file with several gzip members, because browsers decode only the first member.
  gzip: () => createGunzip({ rejectGarbageAfterEnd: true }),
  br: createBrotliDecompress,
  // Allow a Zstandard window of at most 8 MB, because clients need not support a larger one (RFC 9659).
  zstd: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: 23 } }),
};

/** True if clients decode `file` to exactly `content`. Stops at the first byte beyond `content.size`. Never rejects. */
export async function decodesTo({ size, sha256 }: Content, file: SiteFileOnDisk, coding: Coding): Promise<boolean> {
  const decoder = DECODERS[coding]();
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    await pipeline(
      createReadStream(file.diskPath, { highWaterMark: CHUNK_BYTES }),
      decoder,
      async (chunks: AsyncIterable<Buffer>) => {
        for await (const chunk of chunks) {
          bytes += chunk.length;
          if (bytes > size) throw new Error('more bytes than the file');
          hash.update(chunk);
        }
      },
    );
  } catch {
    return false;
  }
  // The decoder ignores bytes after the encoded data, but clients do not, so reject such a file.
  const { bytesWritten } = decoder as Duplex & { readonly bytesWritten: number };
  return bytesWritten === file.size && bytes === size && hash.digest('hex') === sha256;
}
