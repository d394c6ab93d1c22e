import { crc32 } from 'node:zlib';

/**
 * A segment of the vector cache, only ever appended to. Little-endian:
 *
 * ```
 * header   "DSHC", uint32 format version, uint32 dims, uint32 zero
 * record   32 bytes key, int8 * dims, uint32 CRC-32 of both
 * ```
 *
 * Torn records of a killed process, and garbage of a power cut, fail their checksum: what is lost is embedded again.
 */
const MAGIC = 'DSHC';
const FORMAT_VERSION = 1;
export const HEADER_BYTES = 16;
const KEY_BYTES = 32;
const CRC_BYTES = 4;

export function recordBytes(dims: number): number {
  return KEY_BYTES + dims + CRC_BYTES;
}

export function segmentHeader(dims: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(MAGIC, 'latin1');
  header.writeUInt32LE(FORMAT_VERSION, 4);
  header.writeUInt32LE(dims, 8);
  return header;
}

export function isSegment(header: Uint8Array, dims: number): boolean {
  return segmentHeader(dims).equals(header);
}

/** A vector by the digest of its text. */
export interface VectorRecord {
  /** SHA-256. */
  readonly key: Uint8Array;
  readonly vector: Int8Array;
}

export function encodeRecord(key: Uint8Array, vector: Int8Array): Buffer {
  const record = Buffer.alloc(recordBytes(vector.length));
  record.set(key);
  record.set(new Uint8Array(vector.buffer, vector.byteOffset, vector.length), KEY_BYTES);
  record.writeUInt32LE(crc32(record.subarray(0, -CRC_BYTES)), record.length - CRC_BYTES);
  return record;
}

/** In the same memory; null where it is damaged. */
export function recordIn(record: Buffer): VectorRecord | null {
  const end = record.length - CRC_BYTES;
  if (crc32(record.subarray(0, end)) !== record.readUInt32LE(end)) return null;
  const vector = new Int8Array(record.buffer, record.byteOffset + KEY_BYTES, end - KEY_BYTES);
  return { key: record.subarray(0, KEY_BYTES), vector };
}
