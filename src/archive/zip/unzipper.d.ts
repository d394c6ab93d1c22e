/** Types for the part of unzipper that reads one entry. The published types of unzipper lack this part. */
declare module 'unzipper/lib/Open/unzip.js' {
  import type { PassThrough, Readable } from 'node:stream';

  /** unzipper uses `facts`, which come from the central directory, instead of the values in the local header. */
  export default function unzip(
    source: { readonly stream: (offset: number, length: number) => Readable },
    offset: number,
    password: null,
    facts: {
      readonly flags: number;
      readonly compressionMethod: number;
      readonly compressedSize: number;
      readonly uncompressedSize: number;
    },
    length: number,
  ): PassThrough;
}
