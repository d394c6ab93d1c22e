/** The part of unzipper that reads one entry, which its published types lack. */
declare module 'unzipper/lib/Open/unzip.js' {
  import type { PassThrough, Readable } from 'node:stream';

  /** `facts` of the directory override the local header. */
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
