import type { ReadWindow } from './read-window.ts';
import type { Refuse } from './refuse.ts';
import { FLAG_DESCRIPTOR, type ZipEntry } from './zip-central.ts';
import { readExtraFields, resolveZip64 } from './zip-extra.ts';

/** The local header of a zip entry (APPNOTE.TXT 4.3.7) and the data descriptor behind its data (4.3.9). */

const LOCAL_SIGNATURE = 0x04034b50;
const LOCAL_BYTES = 30;
const DESCRIPTOR_SIGNATURE = 0x08074b50;
const DESCRIPTOR_BYTES_MAX = 24;

export interface ZipRange {
  readonly entry: ZipEntry;
  /** Bytes of the local header with its name and extra field. */
  readonly headerBytes: number;
  /** One past the last byte of header, data and descriptor. */
  readonly end: number;
}

/**
 * Compares an entry's local header with the central one.
 *
 * @param dataLimit where the central directory begins: no entry reaches beyond it
 * @throws DocshelfError `zip_header_mismatch`, `bad_length`
 */
export async function checkLocalHeader(
  window: ReadWindow,
  entry: ZipEntry,
  dataLimit: number,
  refuse: Refuse,
): Promise<ZipRange> {
  const mismatch = (what: string) =>
    refuse('zip_header_mismatch', `has ${what} in its local header`, { entry: entry.name });
  const outside = () => refuse('bad_length', 'is said to lie outside of the archive', { entry: entry.name });
  if (entry.localStart + LOCAL_BYTES > dataLimit) throw outside();
  const fixed = await window.read(entry.localStart, LOCAL_BYTES);
  if (fixed.readUInt32LE(0) !== LOCAL_SIGNATURE) throw mismatch('no signature');
  if (fixed.readUInt16LE(6) !== entry.flags) throw mismatch('other flags');
  if (fixed.readUInt16LE(8) !== entry.method) throw mismatch('another method');

  const nameLength = fixed.readUInt16LE(26);
  const headerBytes = LOCAL_BYTES + nameLength + fixed.readUInt16LE(28);
  const dataStart = entry.localStart + headerBytes;
  const dataEnd = dataStart + entry.compressedBytes;
  if (dataEnd > dataLimit) throw outside();
  const variable = await window.read(entry.localStart + LOCAL_BYTES, headerBytes - LOCAL_BYTES);
  if (!variable.subarray(0, nameLength).equals(entry.nameBytes)) throw mismatch('another name');
  const fields = readExtraFields(variable.subarray(nameLength));
  if (fields === null) throw refuse('bad_length', 'has an extra field of a wrong length', { entry: entry.name });
  const sizes = resolveZip64([fixed.readUInt32LE(22), fixed.readUInt32LE(18)], fields);
  if (sizes === null) throw refuse('bad_length', 'has a wrong ZIP64 field', { entry: entry.name });

  const hasDescriptor = (entry.flags & FLAG_DESCRIPTOR) !== 0;
  const local = [fixed.readUInt32LE(14), ...sizes];
  const central = [entry.crc, entry.size, entry.compressedBytes];
  // With a descriptor the local numbers may be left 0; a writer that knows them may give them all the same.
  const agrees = local.every((value, index) => value === central[index] || (hasDescriptor && value === 0));
  if (!agrees) throw mismatch('another checksum or size');
  if (!hasDescriptor) return { entry, headerBytes, end: dataEnd };

  const behind = await window.read(dataEnd, Math.min(DESCRIPTOR_BYTES_MAX, dataLimit - dataEnd));
  const descriptorBytes = descriptorLength(behind, entry);
  if (descriptorBytes === null) {
    throw refuse('zip_header_mismatch', 'has another checksum or size in its data descriptor', { entry: entry.name });
  }
  return { entry, headerBytes, end: dataEnd + descriptorBytes };
}

/**
 * Bytes of the descriptor that `bytes` begin with: of 8-byte or 4-byte sizes, with or without signature. The longer
 * forms are tried first: an empty entry's begins like its shorter one.
 */
function descriptorLength(bytes: Buffer, entry: ZipEntry): number | null {
  const { crc, compressedBytes, size } = entry;
  const isShort = Math.max(size, compressedBytes) <= 0xffffffff;
  for (const sizes of [eightBytes(compressedBytes, size), isShort ? fourBytes(compressedBytes, size) : null]) {
    if (sizes === null) continue;
    const unsigned = Buffer.concat([fourBytes(crc), sizes]);
    for (const form of [Buffer.concat([fourBytes(DESCRIPTOR_SIGNATURE), unsigned]), unsigned]) {
      if (bytes.subarray(0, form.length).equals(form)) return form.length;
    }
  }
  return null;
}

function fourBytes(...numbers: number[]): Buffer {
  const bytes = Buffer.alloc(4 * numbers.length);
  for (const [index, number] of numbers.entries()) bytes.writeUInt32LE(number, 4 * index);
  return bytes;
}

function eightBytes(...numbers: number[]): Buffer {
  const bytes = Buffer.alloc(8 * numbers.length);
  for (const [index, number] of numbers.entries()) bytes.writeBigUInt64LE(BigInt(number), 8 * index);
  return bytes;
}
