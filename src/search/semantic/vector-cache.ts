import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DocshelfError } from '../../domain/errors.ts';
import { decodeRecord, encodeRecord, HEADER_BYTES, isSegment, recordBytes, segmentHeader } from './vector-segment.ts';

const SEGMENT = /^[0-9a-f]{16}\.seg$/;
/** Some 430 kB. */
const RECORDS_A_READ = 1024;

/**
 * Quantised vectors of one model by the digest of their text, shared by all releases. Every open cache writes a segment
 * of its own: processes see each other's when they open the folder next. All wanted vectors are in memory while it is
 * open (400 bytes each). Not guaranteed: that a vector outlives a power cut.
 */
export class VectorCache {
  readonly folder: string;
  readonly dims: number;
  readonly #vectors: Map<string, Int8Array>;
  /** A promise, so that two writers do not make two. */
  #segment: Promise<FileHandle> | null = null;

  private constructor(folder: string, dims: number, vectors: Map<string, Int8Array>) {
    this.folder = folder;
    this.dims = dims;
    this.#vectors = vectors;
  }

  /** Makes `<dir>/<model digest>/`. @param keys of the vectors to hold, 64 hex digits each */
  static async open(
    dir: string,
    model: { digest: string; dims: number },
    keys: Iterable<string>,
  ): Promise<VectorCache> {
    const folder = join(dir, model.digest);
    await mkdir(folder, { recursive: true });
    const wanted = new Set(keys);
    const vectors = new Map<string, Int8Array>();
    for await (const { key, vector } of recordsOf(folder, model.dims)) if (wanted.has(key)) vectors.set(key, vector);
    return new VectorCache(folder, model.dims, vectors);
  }

  get(key: string): Int8Array | undefined {
    return this.#vectors.get(key);
  }

  /** They are in the file, whole, when this resolves. */
  async put(entries: readonly (readonly [key: string, vector: Int8Array])[]): Promise<void> {
    for (const [, vector] of entries) {
      if (vector.length !== this.dims)
        throw new DocshelfError('internal', `A vector has ${vector.length} numbers, not ${this.dims}`);
    }
    this.#segment ??= createSegment(this.folder, this.dims);
    const segment = await this.#segment;
    await segment.appendFile(Buffer.concat(entries.map(([key, vector]) => encodeRecord(key, vector))));
    for (const [key, vector] of entries) this.#vectors.set(key, vector);
  }

  async close(): Promise<void> {
    const segment = await this.#segment;
    this.#segment = null;
    await segment?.close();
  }
}

export async function segmentNames(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => SEGMENT.test(name)).sort();
}

export async function createSegment(folder: string, dims: number): Promise<FileHandle> {
  const handle = await open(join(folder, `${randomBytes(8).toString('hex')}.seg`), 'ax', 0o644);
  await handle.appendFile(segmentHeader(dims));
  return handle;
}

/** @param names of segments; default: all of the folder */
export async function* recordsOf(
  folder: string,
  dims: number,
  names?: readonly string[],
): AsyncGenerator<{ key: string; vector: Int8Array }> {
  const size = recordBytes(dims);
  for (const name of names ?? (await segmentNames(folder))) {
    await using handle = await open(join(folder, name), 'r').catch(() => null);
    // Another process has swept it away in between.
    if (handle === null) continue;
    const header = Buffer.alloc(HEADER_BYTES);
    await handle.read(header, 0, HEADER_BYTES, 0);
    if (!isSegment(header, dims)) continue;
    const chunk = Buffer.alloc(size * RECORDS_A_READ);
    for (let at = HEADER_BYTES; ; ) {
      const { bytesRead } = await handle.read(chunk, 0, chunk.length, at);
      const whole = Math.floor(bytesRead / size);
      for (let record = 0; record < whole; record += 1) {
        const decoded = decodeRecord(chunk.subarray(record * size, (record + 1) * size));
        if (decoded !== null) yield decoded;
      }
      if (whole === 0) break;
      at += whole * size;
    }
  }
}
