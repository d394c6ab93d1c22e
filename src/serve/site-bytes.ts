import { open, readFile } from 'node:fs/promises';
import { DocshelfError } from '../domain/errors.ts';

export interface SiteFileOnDisk {
  readonly diskPath: string;
  readonly size: number;
}

const CHUNK_BYTES = 64 * 1024;

function unreadable(file: SiteFileOnDisk, cause: unknown): DocshelfError {
  if (cause instanceof DocshelfError) return cause;
  return new DocshelfError('cannot_read', `Cannot read "${file.diskPath}": ${(cause as Error).message}`, {
    next: 'See that the volume of storage.dir is mounted and readable.',
    cause,
  });
}

function otherSize(file: SiteFileOnDisk, size: number): DocshelfError {
  return new DocshelfError(
    'release_damaged',
    `Cannot serve "${file.diskPath}": it has ${size} bytes, its release says ${file.size}`,
    { next: 'Import the bundle again: something changed the files of the release.' },
  );
}

/** A whole file, its digest unchecked. @throws DocshelfError `cannot_read`; `release_damaged` where it has another size. */
export async function readSiteFile(file: SiteFileOnDisk): Promise<Buffer<ArrayBuffer>> {
  const bytes = await readFile(file.diskPath).catch((error: unknown) => {
    throw unreadable(file, error);
  });
  if (bytes.length !== file.size) throw otherSize(file, bytes.length);
  return bytes;
}

/**
 * Part of a file with backpressure, of exactly `length` bytes or an error: a short file breaks the connection.
 * @param onFault told of faults after the first byte, when no status can say them
 * @throws DocshelfError as `readSiteFile`, before the first byte
 */
export async function streamSiteFile(
  file: SiteFileOnDisk,
  start: number,
  length: number,
  onFault: (error: DocshelfError) => void,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const handle = await open(file.diskPath).catch((error: unknown) => {
    throw unreadable(file, error);
  });
  try {
    const { size } = await handle.stat();
    if (size !== file.size) throw otherSize(file, size);
  } catch (error) {
    await handle.close();
    throw unreadable(file, error);
  }
  const end = start + length;
  let at = start;
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, end - at));
      let bytesRead = 0;
      try {
        bytesRead = (await handle.read(chunk, 0, chunk.length, at)).bytesRead;
        if (bytesRead === 0) throw otherSize(file, (await handle.stat()).size);
      } catch (error) {
        await handle.close();
        const fault = unreadable(file, error);
        onFault(fault);
        controller.error(fault);
        return;
      }
      at += bytesRead;
      controller.enqueue(chunk.subarray(0, bytesRead));
      if (at < end) return;
      await handle.close();
      controller.close();
    },
    cancel: () => handle.close(),
  });
}
