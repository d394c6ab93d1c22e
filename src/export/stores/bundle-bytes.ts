import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { DocshelfError } from '../../domain/errors.ts';
import type { PackedBundle } from '../ports.ts';

/** Reads a bundle. @throws DocshelfError `cannot_read`; `store_failed` if size or digest differ at the end; `signal.reason` */
export async function* bundleBytes(
  bundle: PackedBundle,
  chunkBytes: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer<ArrayBuffer>> {
  const { sha256, sizeBytes, file } = bundle;
  const handle = await open(file).catch(unreadable(file));
  try {
    const digest = createHash('sha256');
    for (let at = 0; ; at += chunkBytes) {
      signal.throwIfAborted();
      const chunk = await readFully(handle, at, chunkBytes).catch(unreadable(file));
      if (chunk.length > 0) {
        digest.update(chunk);
        yield chunk;
      }
      if (chunk.length === chunkBytes) continue;
      const isWhole = at + chunk.length === sizeBytes && digest.digest('hex') === sha256;
      if (!isWhole) throw otherBytes(sha256);
      signal.throwIfAborted();
      return;
    }
  } finally {
    await handle.close();
  }
}

async function readFully(handle: FileHandle, position: number, count: number): Promise<Buffer<ArrayBuffer>> {
  const bytes = Buffer.allocUnsafeSlow(count);
  let filled = 0;
  while (filled < count) {
    const { bytesRead } = await handle.read(bytes, filled, count - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

const unreadable = (file: string) => (cause: unknown) => {
  throw new DocshelfError('cannot_read', `Cannot read "${file}": ${(cause as Error).message}`, {
    next: 'Check that the volume of storage.dir is mounted and readable.',
    cause,
  });
};

function otherBytes(sha256: string): DocshelfError {
  return new DocshelfError(
    'store_failed',
    `Cannot store bundle "${sha256}": its archive changed after docshelf computed the digest`,
    {
      next: 'Start the export again. If it fails again, check the disk of storage.dir.',
      fields: { retryable: false },
    },
  );
}

export function bundleGone(sha256: string): DocshelfError {
  return new DocshelfError('bundle_gone', `Cannot read bundle "${sha256}": it is no longer in the store`, {
    next: 'Start a new export of the domain.',
    fields: { retryable: false },
  });
}

/** Maximum validity of a link in S3 (SigV4, X-Amz-Expires). docshelf applies this maximum to all links. */
export const LINK_MS_MAX = 7 * 24 * 3600_000;

/** Validity of a link in seconds, counted from the start of the current second: at least `ttlMs` from now, at most LINK_MS_MAX. */
export function linkSeconds(ttlMs: number, nowMs: number): number {
  return Math.min(Math.ceil(((nowMs % 1000) + ttlMs) / 1000), LINK_MS_MAX / 1000);
}
