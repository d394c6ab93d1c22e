import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';

/**
 * Format of `search/vectors.bin`, in little-endian. A row with a wrong checksum (partial, lost or never written) has no vector.
 * ```
 *  0  "DSHV"            magic
 *  4  uint32            format version
 *  8  uint32            dims: numbers of a vector
 * 12  uint32            count: rows, one per passage
 * 16  32 bytes          digest of the model
 * 48  12 bytes          key of the passages, zero if unknown
 * 60  uint32            CRC-32 of all before it and of the sections
 * 64  uint32 * count    section of each row, ascending
 *  …  count rows of     int8 * dims, quantised, and their CRC-32
 * ```
 */
interface TableFacts {
  readonly modelDigest: string;
  readonly dims: number;
  readonly key: string;
}

const MAGIC = 'DSHV';
const FORMAT_VERSION = 2;
const HEADER_BYTES = 64;
const KEY_BYTES = 12;
const CRC_AT = 60;
const CRC_BYTES = 4;
const DIMS_MAX = 4096;
const BLOCK_BYTES = 256 * 1024;

/**
 * Maximum rows, one per passage, which take 1.6 GB on disk and 220 MB of memory. Enough for about two million sections.
 * Search finds sections without a row only by keywords.
 */
export const ROWS_MAX = 4_000_000;

export class VectorTable implements TableFacts {
  readonly modelDigest: string;
  readonly dims: number;
  readonly key: string;
  readonly sections: Uint32Array;
  readonly #fd: number;
  readonly #row: Buffer;

  private constructor(fd: number, { modelDigest, dims, key }: TableFacts, sections: Uint32Array) {
    this.#fd = fd;
    this.modelDigest = modelDigest;
    this.dims = dims;
    this.key = key;
    this.sections = sections;
    this.#row = Buffer.alloc(dims + CRC_BYTES);
  }

  static create(file: string, facts: TableFacts, sections: Uint32Array): VectorTable {
    if (sections.length > ROWS_MAX) throw new RangeError(`a table of vectors has ${sections.length} rows`);
    const temporary = `${file}.part`;
    rmSync(temporary, { force: true });
    const fd = openSync(temporary, 'wx+', 0o644);
    try {
      const header = Buffer.alloc(HEADER_BYTES);
      header.write(MAGIC, 'latin1');
      header.writeUInt32LE(FORMAT_VERSION, 4);
      header.writeUInt32LE(facts.dims, 8);
      header.writeUInt32LE(sections.length, 12);
      header.write(facts.modelDigest, 16, 'hex');
      header.write(facts.key, 48, KEY_BYTES, 'hex');
      const numbers = new Uint8Array(sections.buffer, sections.byteOffset, sections.byteLength);
      header.writeUInt32LE(headCrc(header, numbers), CRC_AT);
      writeAll(fd, header, 0);
      writeAll(fd, numbers, HEADER_BYTES);
      renameSync(temporary, file);
      return new VectorTable(fd, facts, sections);
    } catch (error) {
      closeSync(fd);
      rmSync(temporary, { force: true });
      throw error;
    }
  }

  /** Returns null if the file is missing, or has another format version or model. @throws DocshelfError `release_damaged` */
  static open(file: string, modelDigest: string, flags: 'r' | 'r+' = 'r'): VectorTable | null {
    const fd = openIfThere(file, flags);
    if (fd === null) return null;
    try {
      const read = readHead(fd, file, modelDigest);
      if (read !== null) return new VectorTable(fd, read.facts, read.sections);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    closeSync(fd);
    return null;
  }

  get count(): number {
    return this.sections.length;
  }

  put(row: number, vector: Int8Array): void {
    if (vector.length !== this.dims || row >= this.count)
      throw new RangeError(`a vector of ${vector.length} for row ${row}`);
    this.#row.set(new Uint8Array(vector.buffer, vector.byteOffset, vector.length));
    this.#row.writeUInt32LE(crc32(this.#row.subarray(0, this.dims)), this.dims);
    writeAll(this.#fd, this.#row, this.#placeOf(row));
  }

  get(row: number): Int8Array | null {
    const bytesRead = readSync(this.#fd, this.#row, 0, this.#row.length, this.#placeOf(row));
    return bytesRead === this.#row.length ? vectorIn(this.#row, this.dims) : null;
  }

  *rows(wanted: (row: number) => boolean = () => true): Generator<readonly [row: number, vector: Int8Array]> {
    const rowBytes = this.dims + CRC_BYTES;
    const rowsAtOnce = Math.max(1, Math.floor(BLOCK_BYTES / rowBytes));
    const block = Buffer.alloc(rowsAtOnce * rowBytes);
    for (let first = 0; first < this.count; first += rowsAtOnce) {
      const end = Math.min(this.count, first + rowsAtOnce);
      let isWanted = false;
      for (let row = first; row < end && !isWanted; row += 1) isWanted = wanted(row);
      if (!isWanted) continue;
      const bytesRead = readSync(this.#fd, block, 0, (end - first) * rowBytes, this.#placeOf(first));
      if (bytesRead === 0) return;
      block.fill(0, bytesRead);
      for (let row = first; row < end; row += 1) {
        const at = (row - first) * rowBytes;
        const vector = wanted(row) ? vectorIn(block.subarray(at, at + rowBytes), this.dims) : null;
        if (vector !== null) yield [row, vector];
      }
    }
  }

  flush(): void {
    fsyncSync(this.#fd);
  }

  close(): void {
    closeSync(this.#fd);
  }

  #placeOf(row: number): number {
    return HEADER_BYTES + 4 * this.count + row * (this.dims + CRC_BYTES);
  }
}

function vectorIn(row: Buffer, dims: number): Int8Array | null {
  const stored = row.readUInt32LE(dims);
  if (stored === 0 || crc32(row.subarray(0, dims)) !== stored) return null;
  return new Int8Array(row.buffer, row.byteOffset, dims);
}

function readHead(fd: number, file: string, modelDigest: string): { facts: TableFacts; sections: Uint32Array } | null {
  const header = Buffer.alloc(HEADER_BYTES);
  const isWhole = readSync(fd, header, 0, HEADER_BYTES, 0) === HEADER_BYTES;
  if (!isWhole || header.toString('latin1', 0, 4) !== MAGIC) throw damaged(file, 'it is not a vector file');
  if (header.readUInt32LE(4) !== FORMAT_VERSION) return null;
  if (header.toString('hex', 16, 48) !== modelDigest) return null;
  const dims = header.readUInt32LE(8);
  const count = header.readUInt32LE(12);
  const isPlausible = dims > 0 && dims % 32 === 0 && dims <= DIMS_MAX && count <= ROWS_MAX;
  const endMin = HEADER_BYTES + 4 * count;
  const endMax = endMin + count * (dims + CRC_BYTES);
  const { size } = fstatSync(fd);
  if (!isPlausible || size < endMin || size > endMax) throw damaged(file, 'its lengths do not agree');
  const sections = new Uint32Array(count);
  const numbers = new Uint8Array(sections.buffer);
  readSync(fd, numbers, 0, numbers.length, HEADER_BYTES);
  if (header.readUInt32LE(CRC_AT) !== headCrc(header, numbers))
    throw damaged(file, 'its header does not match its content');
  if (!isRising(sections)) throw damaged(file, 'its sections are out of order');
  return { facts: { modelDigest, dims, key: header.toString('hex', 48, CRC_AT) }, sections };
}

const headCrc = (header: Uint8Array, sections: Uint8Array): number =>
  crc32(sections, crc32(header.subarray(0, CRC_AT)));

function isRising(sections: Uint32Array): boolean {
  return sections.every((section, at) => section >= (sections[at - 1] ?? 0) && section < ROWS_MAX);
}

/** A symbolic link counts as missing, because writing through it is unsafe. */
function openIfThere(file: string, flags: 'r' | 'r+'): number | null {
  const { O_NOFOLLOW, O_RDONLY, O_RDWR } = constants;
  try {
    return openSync(file, O_NOFOLLOW | (flags === 'r' ? O_RDONLY : O_RDWR));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ELOOP') return null;
    throw error;
  }
}

/** @param position offset in the file. Null writes at the current position */
export function writeAll(fd: number, bytes: Uint8Array, position: number | null = null): void {
  for (let done = 0; done < bytes.length; ) {
    const at = position === null ? null : position + done;
    done += writeSync(fd, bytes, done, bytes.length - done, at);
  }
}

function damaged(file: string, state: string): DocshelfError {
  return new DocshelfError('release_damaged', `Cannot read the vectors "${file}": ${state}`, {
    next: 'Delete the file. docshelf creates it again from its cache.',
    fields: { file },
  });
}
