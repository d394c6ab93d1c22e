import type { ArchiveLimits } from '../../domain/limits.ts';
import { type ArchiveFile, ReadWindow } from '../archive-file.ts';
import { isRatioTooHigh, type Refuse } from '../rules.ts';
import { centralEntries, FLAG_DESCRIPTOR, readExtraFields, resolveZip64, type ZipEntry } from './central.ts';
import { readZipEnd } from './end.ts';

const LOCAL_SIGNATURE = 0x04034b50;
const LOCAL_BYTES = 30;
const DESCRIPTOR_SIGNATURE = 0x08074b50;
const DESCRIPTOR_BYTES_MAX = 24;

/** A local header (APPNOTE.TXT 4.3.7), its entry's data, and the data descriptor behind it (4.3.9). */
export interface ZipRecord {
  readonly entry: ZipEntry;
  /** One past the last byte of the data. */
  readonly dataEnd: number;
  /** One past the last byte of the record. */
  readonly end: number;
}

/**
 * Reads all headers of a zip and holds the rules that need no inflating. What passes has each of its bytes in exactly
 * one record, so that a reader may be given records one at a time.
 *
 * @param onEntry called in the directory's order; it may refuse
 * @returns the records in the order of their places
 */
export async function guardZip(
  archive: ArchiveFile,
  limits: ArchiveLimits,
  refuse: Refuse,
  signal: AbortSignal | undefined,
  onEntry: (entry: ZipEntry) => void,
): Promise<readonly ZipRecord[]> {
  const end = await readZipEnd(archive, refuse);
  if (end.entries > limits.entriesMax)
    throw refuse('too_many_entries', `it has more than ${limits.entriesMax} entries`);

  const window = new ReadWindow(archive);
  const entries: ZipEntry[] = [];
  let totalBytes = 0;
  for await (const entry of centralEntries(window, end, limits, refuse)) {
    signal?.throwIfAborted();
    onEntry(entry);
    entries.push(entry);
    totalBytes += entry.size;
  }
  if (isRatioTooHigh(totalBytes, archive.bytes, limits)) {
    throw refuse('ratio_too_high', `it expands to more than ${limits.ratioMax} times its size`);
  }

  const records: ZipRecord[] = [];
  for (const entry of entries.sort((a, b) => a.localStart - b.localStart)) {
    signal?.throwIfAborted();
    records.push(await checkLocalHeader(window, entry, end.directoryStart, refuse));
  }
  checkOrder(records, end.directoryStart, refuse);
  return records;
}

/** Records by their place must follow each other from the first byte to the central directory. */
function checkOrder(records: readonly ZipRecord[], directoryStart: number, refuse: Refuse): void {
  let at = 0;
  for (const { entry, end } of records) {
    if (entry.localStart < at) throw refuse('zip_overlap', 'shares bytes with another entry', { entry: entry.name });
    if (entry.localStart > at)
      throw refuse('trailing_garbage', 'has bytes before it that belong to no entry', { entry: entry.name });
    at = end;
  }
  if (at !== directoryStart)
    throw refuse('trailing_garbage', 'it has bytes between its entries and its central directory');
}

/**
 * Compares an entry's local header with the central one.
 *
 * @param dataLimit where the central directory begins: no entry reaches beyond it
 * @throws DocshelfError `zip_header_mismatch`, `bad_length`
 */
async function checkLocalHeader(
  window: ReadWindow,
  entry: ZipEntry,
  dataLimit: number,
  refuse: Refuse,
): Promise<ZipRecord> {
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
  if (!hasDescriptor) return { entry, dataEnd, end: dataEnd };

  const behind = await window.read(dataEnd, Math.min(DESCRIPTOR_BYTES_MAX, dataLimit - dataEnd));
  const descriptorBytes = descriptorLength(behind, entry);
  if (descriptorBytes === null) {
    throw refuse('zip_header_mismatch', 'has another checksum or size in its data descriptor', { entry: entry.name });
  }
  return { entry, dataEnd, end: dataEnd + descriptorBytes };
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
