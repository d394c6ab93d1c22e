import { createHash, hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { DocshelfError } from '../../domain/errors.ts';
import { ifThere, replaceFile } from '../../files/index.ts';

/**
 * A release's vectors, `search/vectors.bin`. Little-endian:
 *
 * ```
 *  0  "DSHV"            magic
 *  4  uint32            format version
 *  8  uint32            dims: numbers of a vector
 * 12  uint32            count: vectors, one a passage
 * 16  32 bytes          digest of the model
 * 48  16 bytes          zero
 * 64  uint32 * count    section of each passage, never falling
 *  …  int8 * dims*count the vectors, quantised
 *  …  32 bytes          SHA-256 of everything before
 * ```
 */
export interface Vectors {
  readonly modelDigest: string;
  readonly dims: number;
  readonly sections: Uint32Array;
  readonly values: Int8Array;
}

const MAGIC = 'DSHV';
const FORMAT_VERSION = 1;
const HEADER_BYTES = 64;
const DIGEST_BYTES = 32;
/** Passages of a release: 2,000,000 of 384 numbers are 776 MB, more than a daemon should hold. */
const COUNT_MAX = 2_000_000;
const DIMS_MAX = 4096;

export async function writeVectors(file: string, vectors: Vectors): Promise<void> {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(MAGIC, 'latin1');
  header.writeUInt32LE(FORMAT_VERSION, 4);
  header.writeUInt32LE(vectors.dims, 8);
  header.writeUInt32LE(vectors.sections.length, 12);
  header.write(vectors.modelDigest, 16, 'hex');
  const parts = [header, bytesOf(vectors.sections), bytesOf(vectors.values)];
  const digest = createHash('sha256');
  for (const part of parts) digest.update(part);

  await replaceFile(file, [...parts, digest.digest()]);
}

/** Null: missing, of another format version or model, to be made anew. @throws DocshelfError `release_damaged` */
export async function readVectors(file: string, modelDigest: string): Promise<Vectors | null> {
  const bytes = await readWhole(file);
  if (bytes === null) return null;
  const { length } = bytes;
  if (length < HEADER_BYTES + DIGEST_BYTES || bytes.toString('latin1', 0, 4) !== MAGIC) {
    throw damaged(file, 'it is no vector file');
  }
  if (bytes.readUInt32LE(4) !== FORMAT_VERSION) return null;
  const end = length - DIGEST_BYTES;
  const isAsWritten = hash('sha256', bytes.subarray(0, end), 'buffer').equals(bytes.subarray(end));
  if (!isAsWritten) throw damaged(file, 'its content is not what was written');
  if (bytes.toString('hex', 16, 48) !== modelDigest) return null;
  const dims = bytes.readUInt32LE(8);
  const count = bytes.readUInt32LE(12);
  const isPlausible = dims > 0 && dims % 32 === 0 && dims <= DIMS_MAX && count <= COUNT_MAX;
  if (!isPlausible || end !== HEADER_BYTES + count * (4 + dims)) throw damaged(file, 'its lengths do not agree');
  const sections = new Uint32Array(bytes.buffer, HEADER_BYTES, count);
  if (!isRising(sections)) throw damaged(file, 'its sections are out of order');
  const values = new Int8Array(bytes.buffer, HEADER_BYTES + count * 4, count * dims);
  return { modelDigest, dims, sections, values };
}

/** They never fall, and end where the index over them stays small. */
function isRising(sections: Uint32Array): boolean {
  return sections.every((section, at) => section >= (sections[at - 1] ?? 0) && section < COUNT_MAX);
}

/** In a buffer that begins at the start of its memory, so that numbers are read in place. */
async function readWhole(file: string): Promise<Buffer | null> {
  await using handle = await ifThere(open(file, 'r'));
  if (handle === null) return null;
  const { size } = await handle.stat();
  if (size > HEADER_BYTES + DIGEST_BYTES + COUNT_MAX * (4 + DIMS_MAX)) throw damaged(file, `it has ${size} bytes`);
  const bytes = Buffer.from(new ArrayBuffer(size));
  for (let at = 0; at < size; ) {
    const { bytesRead } = await handle.read(bytes, at, size - at, at);
    if (bytesRead === 0) throw damaged(file, 'it ends while it is read');
    at += bytesRead;
  }
  return bytes;
}

function bytesOf(array: Uint32Array | Int8Array): Buffer {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength);
}

function damaged(file: string, state: string): DocshelfError {
  return new DocshelfError('release_damaged', `Cannot read the vectors "${file}": ${state}`, {
    next: 'Delete the file; docshelf makes it again from its cache.',
    fields: { file },
  });
}
