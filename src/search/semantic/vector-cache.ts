import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, readSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { firstFrom } from '../../files/flat-tables.ts';
import { replaceFile } from '../../files/index.ts';
import { FINGERPRINT_BYTES } from '../fingerprint.ts';
import type { Embedder } from '../ports.ts';
import { writeAll } from './vector-table.ts';

export interface VectorRecord {
  readonly key: Buffer;
  readonly vector: Int8Array;
}

/**
 * Quantised vectors of one model, for all releases. Each open cache writes a separate segment file. Other processes find new
 * vectors when they read the cache again. A power cut may lose vectors, which docshelf then computes again.
 */
export class VectorCache {
  readonly folder: string;
  readonly #dims: number;
  #segment: number | null = null;

  constructor(dir: string, { digest, dims }: Pick<Embedder, 'digest' | 'dims'>) {
    this.folder = join(dir, digest);
    this.#dims = dims;
    mkdirSync(this.folder, { recursive: true });
  }

  records(): Generator<VectorRecord> {
    return recordsOf(this.folder, this.#dims);
  }

  /** @throws RangeError if a vector has another length than `dims` */
  put(entries: Iterable<VectorRecord>): void {
    const records = Array.from(entries, ({ key, vector }) => {
      if (vector.length !== this.#dims)
        throw new RangeError(`a vector has ${vector.length} numbers, not ${this.#dims}`);
      return encodeRecord(key, vector);
    });
    this.#segment ??= createSegment(this.folder, this.#dims);
    writeAll(this.#segment, Buffer.concat(records));
  }

  close(): void {
    if (this.#segment !== null) closeSync(this.#segment);
    this.#segment = null;
  }
}

const SEGMENT = /^[0-9a-f]{16}\.seg$/;
const RECORDS_A_READ = 1024;

export function segmentNames(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => SEGMENT.test(name))
    .sort();
}

function createSegment(folder: string, dims: number): number {
  const fd = openSync(join(folder, `${randomBytes(8).toString('hex')}.seg`), 'ax', 0o644);
  writeAll(fd, segmentHeader(dims));
  return fd;
}

function* recordsOf(folder: string, dims: number, names = segmentNames(folder)): Generator<VectorRecord> {
  const size = recordBytes(dims);
  const chunk = Buffer.alloc(size * RECORDS_A_READ);
  for (const name of names) {
    const fd = openIfThere(join(folder, name));
    if (fd === null) continue;
    try {
      const header = Buffer.alloc(HEADER_BYTES);
      readSync(fd, header, 0, HEADER_BYTES, 0);
      if (!segmentHeader(dims).equals(header)) continue;
      for (let at = HEADER_BYTES; ; ) {
        const whole = Math.floor(readSync(fd, chunk, 0, chunk.length, at) / size);
        for (let number = 0; number < whole; number += 1) {
          const record = recordIn(chunk.subarray(number * size, (number + 1) * size));
          if (record !== null) yield record;
        }
        if (whole === 0) break;
        at += whole * size;
      }
    } finally {
      closeSync(fd);
    }
  }
}

function openIfThere(file: string): number | null {
  try {
    return openSync(file, 'r');
  } catch {
    return null;
  }
}

/**
 * Segment of the cache, append-only and little-endian. The checksum detects partial records, whose texts are embedded again.
 * ```
 * header   "DSHC", uint32 format version, uint32 dims, uint32 zero
 * record   32 bytes key, int8 * dims, uint32 CRC-32 of both
 * ```
 */
const MAGIC = 'DSHC';
const FORMAT_VERSION = 1;
const HEADER_BYTES = 16;
const KEY_BYTES = 32;
const CRC_BYTES = 4;

const recordBytes = (dims: number): number => KEY_BYTES + dims + CRC_BYTES;

function segmentHeader(dims: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(MAGIC, 'latin1');
  header.writeUInt32LE(FORMAT_VERSION, 4);
  header.writeUInt32LE(dims, 8);
  return header;
}

function encodeRecord(key: Uint8Array, vector: Int8Array): Buffer {
  const record = Buffer.alloc(recordBytes(vector.length));
  record.set(key);
  record.set(new Uint8Array(vector.buffer, vector.byteOffset, vector.length), KEY_BYTES);
  record.writeUInt32LE(crc32(record.subarray(0, -CRC_BYTES)), record.length - CRC_BYTES);
  return record;
}

function recordIn(record: Buffer): VectorRecord | null {
  const end = record.length - CRC_BYTES;
  if (crc32(record.subarray(0, end)) !== record.readUInt32LE(end)) return null;
  const vector = new Int8Array(record.buffer, record.byteOffset + KEY_BYTES, end - KEY_BYTES);
  return { key: record.subarray(0, KEY_BYTES), vector };
}

const USES = 'uses';
/** Minimum time since the last write to a segment before docshelf rewrites it, because a process may still write to the segment. */
const QUIET_MS_MIN = 10 * 60_000;
const DEAD_PART_MAX = 0.3;

export async function noteUse(folder: string, release: string, keys: Iterable<string>): Promise<void> {
  await mkdir(join(folder, USES), { recursive: true });
  await replaceFile(join(folder, USES, release), Buffer.from([...keys].join(''), 'hex'));
}

/** Removes unused and duplicate vectors from segments without recent writes. A crash leaves only harmless duplicates. */
export async function sweepVectors(
  folder: string,
  dims: number,
  kept: ReadonlySet<string>,
  nowMs: number,
): Promise<number> {
  const used = await usedKeys(folder, kept, nowMs);
  const quiet: string[] = [];
  for (const name of segmentNames(folder)) if (await isQuiet(join(folder, name), nowMs)) quiet.push(name);
  const isLive: boolean[] = [];
  const isFound = new Uint8Array(used.length);
  for (const { key } of recordsOf(folder, dims, quiet)) {
    const wanted = beginningOf(key);
    const at = firstFrom(used.length, (index) => (used[index] ?? 0) < wanted);
    const isUsed = used[at] === wanted;
    isLive.push(isUsed && isFound[at] === 0);
    // Mark the key as found, so that a second record with this key counts as a duplicate, which docshelf removes.
    if (isUsed) isFound[at] = 1;
  }
  const live = isLive.filter(Boolean).length;
  const dead = isLive.length - live;
  if (dead === 0 || dead < isLive.length * DEAD_PART_MAX) return 0;

  if (live > 0) {
    const segment = createSegment(folder, dims);
    try {
      let number = 0;
      for (const { key, vector } of recordsOf(folder, dims, quiet)) {
        if (isLive[number] === true) writeAll(segment, encodeRecord(key, vector));
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

/**
 * Returns the sorted keys in the lists of the releases in `kept`, and removes the lists of other releases. Above 4,000,000 keys,
 * a `Set` would need more memory than V8 permits.
 */
async function usedKeys(folder: string, kept: ReadonlySet<string>, nowMs: number): Promise<Float64Array> {
  await mkdir(join(folder, USES), { recursive: true });
  const lists: Float64Array[] = [];
  for (const name of await readdir(join(folder, USES))) {
    const file = join(folder, USES, name);
    if (kept.has(name)) {
      const list = await readFile(file);
      const length = Math.floor(list.length / FINGERPRINT_BYTES);
      lists.push(Float64Array.from({ length }, (_, at) => beginningOf(list, at * FINGERPRINT_BYTES)));
    } else if (!name.startsWith('.tmp-') || (await isQuiet(file, nowMs))) await rm(file, { force: true });
  }
  const used = new Float64Array(lists.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const list of lists) {
    used.set(list, at);
    at += list.length;
  }
  return used.sort();
}

/** First six bytes of a key. If two keys begin alike, docshelf may drop a vector, and then computes it again. */
const beginningOf = (keys: Buffer, at = 0): number => keys.readUIntBE(at, 6);

async function isQuiet(file: string, nowMs: number): Promise<boolean> {
  const info = await stat(file).catch(() => null);
  return info !== null && nowMs - info.mtimeMs > QUIET_MS_MIN;
}
