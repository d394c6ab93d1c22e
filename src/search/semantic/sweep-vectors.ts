import { closeSync, fsyncSync } from 'node:fs';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../files/index.ts';
import { FINGERPRINT_BYTES, Fingerprints } from '../fingerprints.ts';
import { append, createSegment, recordsOf, segmentNames } from './vector-cache.ts';
import { encodeRecord } from './vector-segment.ts';

const USES = 'uses';
/** A segment written to within this time may belong to a process that is embedding. */
const QUIET_MS_MIN = 10 * 60_000;
const DEAD_PART_MAX = 0.3;
/** Keys that are held at once: 48 MB of them at the most. */
const KEYS_AT_ONCE = 1_000_000;
const BLOCK_BYTES = 1024 * FINGERPRINT_BYTES;

/** Called before the vectors are made: a sweep in between spares them. @param keys fingerprints, one after the other */
export async function noteUse(folder: string, release: string, keys: Uint8Array): Promise<void> {
  await mkdir(join(folder, USES), { recursive: true });
  await replaceFile(join(folder, USES, release), keys);
}

/**
 * 1. Forget the lists of releases that are gone.
 * 2. Mark the records of quiet segments whose keys are on the other lists, each key once: a part of all keys at a time.
 * 3. Where enough is dead: write the marked records into one new segment.
 * 4. Remove the quiet segments. A crash before leaves vectors twice, which harms nothing.
 * @param kept digests of releases
 */
export async function sweepVectors(
  folder: string,
  dims: number,
  kept: ReadonlySet<string>,
  nowMs: number,
  keysAtOnce = KEYS_AT_ONCE,
): Promise<number> {
  const lists = await keptLists(folder, kept, nowMs);
  const quiet: string[] = [];
  for (const name of segmentNames(folder)) if (await isQuiet(join(folder, name), nowMs)) quiet.push(name);
  let records = 0;
  for (const _ of recordsOf(folder, dims, quiet)) records += 1;
  const isLive = new Uint8Array(records);
  const parts = Math.max(1, Math.ceil(lists.keys / keysAtOnce));
  let live = 0;
  for (let part = 0; part < parts; part += 1) {
    const keys = new Fingerprints();
    for (const file of lists.files) await readKeys(file, (key) => (key[0] ?? 0) % parts === part && keys.add(key));
    const isFound = new Uint8Array(keys.count);
    let number = 0;
    for (const { key } of recordsOf(folder, dims, quiet)) {
      const found = keys.find(key);
      if (found !== null && isFound[found] === 0) {
        isFound[found] = 1;
        isLive[number] = 1;
        live += 1;
      }
      number += 1;
    }
  }
  const dead = records - live;
  if (dead === 0 || dead < records * DEAD_PART_MAX) return 0;

  if (live > 0) {
    const segment = createSegment(folder, dims);
    try {
      let number = 0;
      for (const { key, vector } of recordsOf(folder, dims, quiet)) {
        if (isLive[number] === 1) append(segment, encodeRecord(key, vector));
        number += 1;
      }
      fsyncSync(segment);
    } finally {
      closeSync(segment);
    }
  }
  for (const name of quiet) await rm(join(folder, name), { force: true });
  return dead;
}

async function keptLists(folder: string, kept: ReadonlySet<string>, nowMs: number) {
  await mkdir(join(folder, USES), { recursive: true });
  const files: string[] = [];
  let keys = 0;
  for (const name of await readdir(join(folder, USES))) {
    const file = join(folder, USES, name);
    if (kept.has(name)) {
      files.push(file);
      keys += Math.floor((await stat(file)).size / FINGERPRINT_BYTES);
    } else if (!name.startsWith('.tmp-') || (await isQuiet(file, nowMs))) await rm(file, { force: true });
  }
  return { files, keys };
}

async function readKeys(file: string, take: (key: Uint8Array) => unknown): Promise<void> {
  await using handle = await open(file, 'r');
  const block = Buffer.alloc(BLOCK_BYTES);
  for (let at = 0; ; ) {
    const { bytesRead } = await handle.read(block, 0, BLOCK_BYTES, at);
    for (let from = 0; from + FINGERPRINT_BYTES <= bytesRead; from += FINGERPRINT_BYTES)
      take(block.subarray(from, from + FINGERPRINT_BYTES));
    if (bytesRead === 0) return;
    at += bytesRead;
  }
}

async function isQuiet(file: string, nowMs: number): Promise<boolean> {
  const info = await stat(file).catch(() => null);
  return info !== null && nowMs - info.mtimeMs > QUIET_MS_MIN;
}
