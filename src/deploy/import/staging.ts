import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { DocshelfError } from '../../domain/errors.ts';
import { ageOf, isAlive, parseOwner, readIfThere, sweepTemporaries, thisProcess } from '../../files/index.ts';
import type { DataPaths } from '../releases/data-folder.ts';
import { ReleaseStore } from '../releases/release-store.ts';

const OWNER_FILE = 'owner.json';

/** Age at which a staging folder of another host is removed. Longer than any import, which can still run on that host. */
const FOREIGN_AGE_MS_MAX = 24 * 3600_000;

export async function createStaging(paths: DataPaths): Promise<string> {
  const folder = join(paths.staging, randomBytes(8).toString('hex'));
  await mkdir(folder);
  await writeFile(join(folder, OWNER_FILE), JSON.stringify(thisProcess()));
  return folder;
}

export async function removeStaging(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

export async function sweepStaging(paths: DataPaths, nowMs: number): Promise<void> {
  for (const name of await readdir(paths.staging)) {
    const path = join(paths.staging, name);
    const owner = parseOwner((await readIfThere(join(path, OWNER_FILE)).catch(() => null)) ?? '');
    const alive = owner === null ? null : isAlive(owner);
    if (alive === true) continue;
    if (alive === null) {
      // Keep a folder without an owner file for one minute, because the process that created it may still write that file.
      const ageMsMax = owner === null ? 60_000 : FOREIGN_AGE_MS_MAX;
      if (((await ageOf(path, nowMs)) ?? 0) < ageMsMax) continue;
    }
    await removeStaging(path);
  }
}

export async function sweepDataFolder(paths: DataPaths): Promise<void> {
  const now = Date.now();
  await sweepStaging(paths, now);
  await sweepTemporaries([paths.dir, paths.daemons], now);
  await new ReleaseStore(paths).sweepIncomplete();
}

/** Size, modification time and inode as text, to detect a changed or replaced file. Null if the file does not exist. */
export async function stampOf(file: string): Promise<string | null> {
  const info = await stat(file, { bigint: true }).catch(() => null);
  return info?.isFile() === true ? `${info.size}-${info.mtimeNs}-${info.ino}` : null;
}

/**
 * Writes a stream to a file, and removes the file on failure.
 * @throws DocshelfError `source_too_large`; the reason of `signal` if it aborts
 */
export async function spoolStream(
  stream: AsyncIterable<Uint8Array>,
  file: string,
  bytesMax: number,
  signal: AbortSignal,
): Promise<void> {
  async function* bounded(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.byteLength;
      if (bytes > bytesMax) throw tooLarge(bytesMax);
      yield chunk;
    }
  }
  try {
    await pipeline(stream, bounded, createWriteStream(file, { flags: 'wx' }), { signal });
  } catch (error) {
    await rm(file, { force: true });
    signal.throwIfAborted();
    throw error;
  }
}

function tooLarge(bytesMax: number): DocshelfError {
  return new DocshelfError('source_too_large', `Cannot import the archive: it is larger than ${bytesMax} bytes`, {
    next: 'If the archive is a bundle, raise staticExport.limits.bundleBytes.',
  });
}
