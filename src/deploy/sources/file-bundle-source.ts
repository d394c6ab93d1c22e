import { type FileHandle, realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';
import { cleanFileName } from '../../domain/file-name.ts';
import { linkWithoutSecrets, type Secret } from '../../domain/secret.ts';
import { counted } from '../../domain/text.ts';
import { isInside, openNamed } from '../../files/index.ts';
import type { BundleSource, OpenedBundle } from '../ports.ts';

/** @param roots folders that must contain the file of a link, after symbolic links are resolved */
export function fileBundleSource(roots: readonly string[]): BundleSource {
  return { links: /^file:/i, open: (link, { signal }) => openFile(link, roots, signal) };
}

async function openFile(link: Secret, roots: readonly string[], signal: AbortSignal): Promise<OpenedBundle> {
  signal.throwIfAborted();
  const name = linkWithoutSecrets(link.reveal());
  const path = await pathWithin(roots, pathOf(link, name), name);
  const handle = await openNamed(path).catch(cannotOpen(name));
  // Ignore an error from closing the file, because docshelf only reads it. A second `close` call has no effect.
  const close = (): void => void handle.close().catch(() => undefined);
  try {
    const info = await handle.stat();
    if (!info.isFile()) throw cannotRead(name, info.isDirectory() ? 'it is a folder' : 'it is not a file', CHECK_LINK);
    return {
      stream: read(handle, name, info.size, signal, close),
      offset: 0,
      totalBytes: info.size,
      endIsCertain: true,
      etag: null,
      fileName: cleanFileName(basename(path)),
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** Resolves symbolic links first, so that the checked file is also the opened file. */
async function pathWithin(roots: readonly string[], path: string, name: string): Promise<string> {
  const real = await realpath(path).catch(cannotOpen(name));
  for (const root of roots) {
    const at = await realpath(root).catch(() => null);
    if (at !== null && isInside(real, at)) return real;
  }
  throw cannotRead(name, 'it is outside network.fileRoots', 'Add the folder of the file to network.fileRoots.');
}

/**
 * Reads at most the size that the file had when it was opened. If the file has shrunk, the stream ends early, and its consumer
 * reports the truncation.
 */
async function* read(
  handle: FileHandle,
  name: string,
  sizeBytes: number,
  signal: AbortSignal,
  close: () => void,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    for (let offset = 0; offset < sizeBytes; ) {
      signal.throwIfAborted();
      const buffer = Buffer.allocUnsafe(Math.min(256 * 1024, sizeBytes - offset));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset).catch((error: unknown) => {
        const state = `reading failed after ${counted(offset, 'byte')} (${errnoOf(error) ?? 'unknown error'})`;
        throw cannotRead(name, state, 'Check the disk of the file, then try again.', error);
      });
      if (bytesRead === 0) return;
      offset += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
    signal.throwIfAborted();
  } finally {
    close();
  }
}

function pathOf(link: Secret, name: string): string {
  try {
    return fileURLToPath(link.reveal());
  } catch {
    // Omit the cause from the error, because the cause may contain the link.
    throw cannotRead(name, 'it is not a link to a local file', 'Write the link as file:///folder/bundle.tar.gz.');
  }
}

function cannotOpen(name: string): (error: unknown) => never {
  return (error) => {
    const errno = errnoOf(error) ?? 'unknown error';
    throw errno === 'ENOENT'
      ? cannotRead(name, 'the file does not exist (ENOENT)', CHECK_LINK, error)
      : cannotRead(name, `it cannot be opened (${errno})`, READABLE, error);
  };
}

const CHECK_LINK = 'Correct the link. It must be the path of an archive file.';
const READABLE = 'Make the file readable for the user that docshelf runs as.';

function cannotRead(name: string, state: string, next: string, cause?: unknown): DocshelfError {
  return new DocshelfError('cannot_read', `Cannot read "${name}": ${state}`, {
    next,
    fields: { retryable: false },
    cause,
  });
}
