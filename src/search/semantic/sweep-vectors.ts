import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../files/index.ts';
import { createSegment, recordsOf, segmentNames } from './vector-cache.ts';
import { encodeRecord, KEY_BYTES } from './vector-segment.ts';

const USES = 'uses';
/** A segment written to within this time may belong to a process that is embedding. */
const QUIET_MS_MIN = 10 * 60_000;
const DEAD_PART_MAX = 0.3;

/** Called before the vectors are made: a sweep in between spares them. */
export async function noteUse(folder: string, release: string, keys: readonly string[]): Promise<void> {
  await mkdir(join(folder, USES), { recursive: true });
  await replaceFile(join(folder, USES, release), Buffer.from([...new Set(keys)].join(''), 'hex'));
}

/**
 * 1. Forget the lists of releases that are gone.
 * 2. Mark the keys on the other lists as live.
 * 3. Where enough is dead: write the live vectors of all quiet segments into one new segment.
 * 4. Remove the quiet segments. A crash before leaves vectors twice, which harms nothing.
 * @param kept digests of releases
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
    await using segment = await createSegment(folder, dims);
    for await (const { key, vector } of recordsOf(folder, dims, quiet)) {
      if (found.delete(key)) await segment.appendFile(encodeRecord(key, vector));
    }
    await segment.sync();
  }
  for (const name of quiet) await rm(join(folder, name), { force: true });
  return dead;
}

function keysOf(list: Buffer): string[] {
  const count = Math.floor(list.length / KEY_BYTES);
  return Array.from({ length: count }, (_, at) => list.toString('hex', at * KEY_BYTES, (at + 1) * KEY_BYTES));
}

async function isQuiet(file: string, nowMs: number): Promise<boolean> {
  const info = await stat(file).catch(() => null);
  return info !== null && nowMs - info.mtimeMs > QUIET_MS_MIN;
}
