import { createHash, hash } from 'node:crypto';
import type { FileEntry } from '../../domain/release.ts';

export type Content = Pick<FileEntry, 'size' | 'sha256'>;

export class OtherBytes extends Error {}

/** Those bytes alone. @throws OtherBytes */
export function checkedWhole({ size, sha256 }: Content, bytes: Buffer): Buffer {
  if (bytes.length !== size || hash('sha256', bytes) !== sha256) throw new OtherBytes();
  return bytes;
}

/** Passes exactly those bytes on. @throws OtherBytes at the first one too many, and at the end of others */
export function checked({ size, sha256 }: Content) {
  return async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > size) break;
      hash.update(chunk);
      yield chunk;
    }
    if (bytes !== size || hash.digest('hex') !== sha256) throw new OtherBytes();
  };
}
