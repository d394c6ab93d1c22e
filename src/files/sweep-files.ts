import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from './read.ts';

/** The folder of what is being written into a file store, and of what is being swept out of it. */
export const INCOMING = 'incoming';

const SHARD = /^[0-9a-f]{2}$/;
const STORED = /^[0-9a-f]{64}$/;

/** Removes files that are neither kept, used within `olderThanMs` nor linked from elsewhere, and half files. */
export async function sweepFiles(dir: string, keep: ReadonlySet<string>, olderThanMs: number) {
  const usedBeforeMs = Date.now() - olderThanMs;
  const swept = { files: 0, bytes: 0 };
  const incoming = join(dir, INCOMING);
  await mkdir(incoming, { recursive: true });
  for (const shard of await namesIn(dir)) {
    if (!SHARD.test(shard)) continue;
    for (const name of await namesIn(join(dir, shard))) {
      if (!STORED.test(name) || keep.has(name)) continue;
      const bytes = await sweepFile(incoming, join(dir, shard, name), usedBeforeMs);
      if (bytes === null) continue;
      swept.files += 1;
      swept.bytes += bytes;
    }
  }
  for (const name of await namesIn(incoming)) {
    const info = await ifThere(stat(join(incoming, name)));
    // By the time of the last change of its name too: what another sweep has just put here still has its old time.
    if (info === null || Math.max(info.mtimeMs, info.ctimeMs) > usedBeforeMs) continue;
    await rm(join(incoming, name), { force: true });
  }
  return swept;
}

/**
 * Moves a file aside and looks again: a `put` between the looks has renewed its time, and it goes back.
 * @returns its bytes, or null where it stays
 */
async function sweepFile(incoming: string, path: string, usedBeforeMs: number): Promise<number | null> {
  const isUnused = (info: { mtimeMs: number; nlink: number }) => info.mtimeMs <= usedBeforeMs && info.nlink === 1;
  const before = await ifThere(stat(path));
  if (before === null || !isUnused(before)) return null;
  const aside = join(incoming, randomBytes(12).toString('hex'));
  await ifThere(rename(path, aside));
  const after = await ifThere(stat(aside));
  if (after === null) return null;
  if (isUnused(after)) {
    await rm(aside);
    return after.size;
  }
  await rename(aside, path);
  return null;
}

async function namesIn(folder: string): Promise<string[]> {
  return (await ifThere(readdir(folder))) ?? [];
}
