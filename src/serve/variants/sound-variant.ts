import { closeSync, fstatSync, openSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Coding } from '../encoding.ts';
import { CHUNK_BYTES, crcOf, HEADER_BYTES, madeFile, VARIANTS, variantName } from './variant-file.ts';

/** All are read there: a buffer for each would be most of the time. */
const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);

/**
 * The file of a compressed form that is whole by all of its bytes; null where there is none: what is damaged is made anew.
 * Synchronous, for the process that makes them: through the pool it took seven times as long.
 */
export function soundVariant(releaseDir: string, sha256: string, coding: Coding): string | null {
  const file = join(releaseDir, VARIANTS, variantName(sha256, coding));
  const handle = openIfThere(file);
  if (handle === null) return null;
  try {
    if (isSound(handle)) return file;
  } catch {
    // A bad sector, too, is written anew.
  } finally {
    closeSync(handle);
  }
  rmSync(madeFile(releaseDir), { force: true });
  return null;
}

function openIfThere(file: string): number | null {
  try {
    return openSync(file, 'r');
  } catch {
    return null;
  }
}

function isSound(handle: number): boolean {
  const header = chunk.subarray(0, readSync(handle, chunk, 0, HEADER_BYTES, 0));
  const said = crcOf(header, fstatSync(handle).size);
  let crc = 0;
  for (let at = HEADER_BYTES; ; ) {
    const read = readSync(handle, chunk, 0, CHUNK_BYTES, at);
    if (read === 0) return crc === said;
    crc = crc32(chunk.subarray(0, read), crc);
    at += read;
  }
}
