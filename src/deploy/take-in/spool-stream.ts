import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { DocshelfError } from '../../domain/errors.ts';

/** The file is gone on failure. @throws DocshelfError `source_too_large`; the signal's reason */
export async function spoolStream(
  stream: AsyncIterable<Uint8Array>,
  file: string,
  bytesMax: number,
  signal: AbortSignal,
): Promise<void> {
  let bytes = 0;
  const bounded = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      bytes += chunk.byteLength;
      if (bytes <= bytesMax) done(null, chunk);
      else done(tooLarge(bytesMax));
    },
  });
  try {
    await pipeline(stream, bounded, createWriteStream(file, { flags: 'wx' }), { signal });
  } catch (error) {
    await rm(file, { force: true });
    signal.throwIfAborted();
    throw error;
  }
}

function tooLarge(bytesMax: number): DocshelfError {
  return new DocshelfError('source_too_large', `Cannot take in the archive: it is larger than ${bytesMax} bytes`, {
    next: 'Raise staticExport.limits.bundleBytes if a bundle of this size is meant.',
  });
}
