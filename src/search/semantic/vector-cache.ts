import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import {
  encodeRecord,
  HEADER_BYTES,
  isSegment,
  recordBytes,
  recordIn,
  segmentHeader,
  type VectorRecord,
} from './vector-segment.ts';

const SEGMENT = /^[0-9a-f]{16}\.seg$/;
/** Some 430 kB. */
const RECORDS_A_READ = 1024;

interface CachedModel {
  readonly digest: string;
  readonly dims: number;
}

/**
 * Quantised vectors of one model by the digest of their text, shared by all releases. Every open cache writes a segment
 * of its own: processes see each other's when they read the folder next. Not guaranteed: that a vector outlives a power cut.
 */
export class VectorCache {
  readonly folder: string;
  readonly #dims: number;
  #segment: number | null = null;

  /** Makes `<dir>/<model digest>/`. */
  constructor(dir: string, { digest, dims }: CachedModel) {
    this.folder = join(dir, digest);
    this.#dims = dims;
    mkdirSync(this.folder, { recursive: true });
  }

  /** All that is in the folder, some of it perhaps twice; a record is valid until the next step. */
  records(): Generator<VectorRecord> {
    return recordsOf(this.folder, this.#dims);
  }

  /** They are in the file, whole, when this returns. @throws RangeError for a vector of another length */
  put(entries: Iterable<VectorRecord>): void {
    const records = Array.from(entries, ({ key, vector }) => {
      if (vector.length !== this.#dims)
        throw new RangeError(`a vector has ${vector.length} numbers, not ${this.#dims}`);
      return encodeRecord(key, vector);
    });
    this.#segment ??= createSegment(this.folder, this.#dims);
    append(this.#segment, Buffer.concat(records));
  }

  close(): void {
    if (this.#segment !== null) closeSync(this.#segment);
    this.#segment = null;
  }
}

export function segmentNames(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => SEGMENT.test(name))
    .sort();
}

/** @returns its descriptor, for `append` */
export function createSegment(folder: string, dims: number): number {
  const fd = openSync(join(folder, `${randomBytes(8).toString('hex')}.seg`), 'ax', 0o644);
  append(fd, segmentHeader(dims));
  return fd;
}

export function append(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

/** @param names of segments; default: all of the folder */
export function* recordsOf(folder: string, dims: number, names = segmentNames(folder)): Generator<VectorRecord> {
  const size = recordBytes(dims);
  const chunk = Buffer.alloc(size * RECORDS_A_READ);
  for (const name of names) {
    const fd = openIfThere(join(folder, name));
    // Another process has swept it away in between.
    if (fd === null) continue;
    try {
      const header = Buffer.alloc(HEADER_BYTES);
      readSync(fd, header, 0, HEADER_BYTES, 0);
      if (!isSegment(header, dims)) continue;
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
