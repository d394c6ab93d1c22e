import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../files/index.ts';
import { createSegment, recordsOf, segmentNames } from './vector-cache.ts';
import { encodeRecord, KEY_BYTES } from './vector-segment.ts';

/** The folder of lists: one file a release, named by its digest, with the keys of the vectors that it uses. */
const USES = 'uses';
/** A segment that was written to within this time may belong to a process that is embedding. */
const QUIET_MS_MIN = 10 * 60_000;
/** Rewriting all segments is worth while where this part of them is dead. */
const DEAD_PART_MAX = 0.3;

/** Writes down which vectors a release uses; before they are made, so that a sweep in between spares them. */
export async function noteUse(folder: string, release: string, keys: readonly string[]): Promise<void> {
  await mkdir(join(folder, USES), { recursive: true });
  await replaceFile(join(folder, USES, release), Buffer.from([...new Set(keys)].join(''), 'hex'));
}

/**
 * Drops the vectors that no kept release uses, so that the cache is bounded by the releases that are kept.
 *
 * 1. Forget the lists of releases that are gone.
 * 2. Mark the keys on the other lists as live.
 * 3. Where enough is dead: write the live vectors of all quiet segments into one new segment.
 * 4. Remove the quiet segments.
 *
 * A crash between 3 and 4 leaves vectors twice, which harms nothing.
 *
 * @param kept digests of the releases that are kept.
 * @returns how many records were dropped.
 */
export async function sweepVectors(
  folder: string,
  dims: number,
  kept: ReadonlySet<string>,
  nowMs: number,
): Promise<number> {
  const live = new Set<string>();
  await mkdir(join(folder, USES), { recursive: true });
  for (const name of await readdir(join(folder, USES))) {
    const file = join(folder, USES, name);
    if (kept.has(name)) for (const key of keysOf(await readFile(file))) live.add(key);
    else if (!name.startsWith('.tmp-') || (await isQuiet(file, nowMs))) await rm(file, { force: true });
  }

  const quiet: string[] = [];
  for (const name of await segmentNames(folder)) if (await isQuiet(join(folder, name), nowMs)) quiet.push(name);
  let records = 0;
  const found = new Set<string>();
  for await (const { key } of recordsOf(folder, dims, quiet)) {
    records += 1;
    if (live.has(key)) found.add(key);
  }
  const dead = records - found.size;
  if (dead === 0 || dead < records * DEAD_PART_MAX) return 0;

  if (found.size > 0) {
    const segment = await createSegment(folder, dims);
    try {
      for await (const { key, vector } of recordsOf(folder, dims, quiet)) {
        if (found.delete(key)) await segment.appendFile(encodeRecord(key, vector));
      }
      await segment.sync();
    } finally {
      await segment.close();
    }
  }
  for (const name of quiet) await rm(join(folder, name), { force: true });
  return dead;
}

function keysOf(list: Buffer): string[] {
  const keys: string[] = [];
  for (let at = 0; at + KEY_BYTES <= list.length; at += KEY_BYTES) keys.push(list.toString('hex', at, at + KEY_BYTES));
  return keys;
}

async function isQuiet(file: string, nowMs: number): Promise<boolean> {
  const info = await stat(file).catch(() => null);
  return info !== null && nowMs - info.mtimeMs > QUIET_MS_MIN;
}
