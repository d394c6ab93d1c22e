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
export const KEY_BYTES = 32;
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

export function encodeRecord(key: string, vector: Int8Array): Buffer {
  const record = Buffer.alloc(recordBytes(vector.length));
  record.write(key, 'hex');
  record.set(new Uint8Array(vector.buffer, vector.byteOffset, vector.length), KEY_BYTES);
  record.writeUInt32LE(crc32(record.subarray(0, -CRC_BYTES)), record.length - CRC_BYTES);
  return record;
}

export function decodeRecord(record: Buffer): { key: string; vector: Int8Array } | null {
  if (crc32(record.subarray(0, -CRC_BYTES)) !== record.readUInt32LE(record.length - CRC_BYTES)) return null;
  return {
    key: record.toString('hex', 0, KEY_BYTES),
    vector: Int8Array.from(record.subarray(KEY_BYTES, -CRC_BYTES), (byte) => (byte << 24) >> 24),
  };
}
