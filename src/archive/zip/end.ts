import type { ArchiveFile } from '../archive-file.ts';
import type { Refuse } from '../rules.ts';

/** The end record of a zip and its ZIP64 forms (APPNOTE.TXT 4.3.14 to 4.3.16). */

const END_SIGNATURE = 0x06054b50;
const END_BYTES = 22;
const COMMENT_BYTES_MAX = 0xffff;
const LOCATOR_SIGNATURE = 0x07064b50;
const LOCATOR_BYTES = 20;
const END64_SIGNATURE = 0x06064b50;
const END64_BYTES = 56;
/** APPNOTE.TXT 4.3.14.1: the record's size field leaves out itself and the signature. */
const END64_SIZE_LEAVES_OUT = 12;
const CENTRAL_HEADER_BYTES_MIN = 46;

export interface ZipEnd {
  readonly entries: number;
  readonly directoryStart: number;
  readonly directoryEnd: number;
}

/**
 * Checks every number in the end record against the file.
 * @throws DocshelfError `truncated`, `trailing_garbage`, `bad_length`, `multi_disk`, `damaged_archive`
 */
export async function readZipEnd(archive: ArchiveFile): Promise<ZipEnd> {
  const { refuse } = archive;
  const tailStart = Math.max(0, archive.bytes - END_BYTES - COMMENT_BYTES_MAX);
  const tail = await archive.read(tailStart, archive.bytes - tailStart);
  const at = findEndRecord(tail, refuse);
  const endRecordStart = tailStart + at;
  const disks = [tail.readUInt16LE(at + 4), tail.readUInt16LE(at + 6)];
  const onThisDisk = tail.readUInt16LE(at + 8);
  const numbers = {
    entries: tail.readUInt16LE(at + 10),
    bytes: tail.readUInt32LE(at + 12),
    start: tail.readUInt32LE(at + 16),
  };

  const locator = await archive.read(Math.max(0, endRecordStart - LOCATOR_BYTES), LOCATOR_BYTES);
  const hasLocator = endRecordStart >= LOCATOR_BYTES && locator.readUInt32LE(0) === LOCATOR_SIGNATURE;
  const asksFor64 =
    numbers.entries === 0xffff || onThisDisk === 0xffff || numbers.bytes === 0xffffffff || numbers.start === 0xffffffff;
  if (!hasLocator) {
    if (asksFor64) throw refuse('bad_length', 'its ZIP64 record is missing');
    if (disks.some((disk) => disk !== 0) || onThisDisk !== numbers.entries) throw multiDisk(refuse);
    return checked(numbers, endRecordStart, refuse);
  }
  if (disks.some((disk) => disk !== 0 && disk !== 0xffff)) throw multiDisk(refuse);
  const end64 = await readEnd64(archive, locator, endRecordStart - LOCATOR_BYTES);
  const agrees =
    sameOr(numbers.entries, end64.entries, 0xffff) &&
    sameOr(onThisDisk, end64.entries, 0xffff) &&
    sameOr(numbers.bytes, end64.bytes, 0xffffffff) &&
    sameOr(numbers.start, end64.start, 0xffffffff);
  if (!agrees) throw refuse('bad_length', 'its end record and its ZIP64 end record disagree');
  return checked(end64, end64.recordStart, refuse);
}

type Directory = Record<'entries' | 'bytes' | 'start', number>;

function findEndRecord(tail: Buffer, refuse: Refuse): number {
  const signature = Buffer.alloc(4);
  signature.writeUInt32LE(END_SIGNATURE);
  const records: { at: number; end: number }[] = [];
  for (let at = tail.indexOf(signature); at >= 0; at = tail.indexOf(signature, at + 1)) {
    if (at + END_BYTES > tail.length) break;
    records.push({ at, end: at + END_BYTES + tail.readUInt16LE(at + 20) });
  }
  const [found, second] = records.filter(({ end }) => end === tail.length);
  // Readers disagree on which of two records counts, and so on what the archive holds.
  if (second !== undefined) throw refuse('damaged_archive', 'it has two end records');
  if (found !== undefined) return found.at;
  if (records.some(({ end }) => end > tail.length)) throw refuse('bad_length', 'the length of its comment is wrong');
  if (records.length > 0) throw refuse('trailing_garbage', 'it goes on after its end record');
  throw refuse('truncated', 'it is cut off: its end record is missing');
}

async function readEnd64(archive: ArchiveFile, locator: Buffer, locatorStart: number) {
  const { refuse } = archive;
  const recordStart = toNumber(locator.readBigUInt64LE(8));
  if (locator.readUInt32LE(4) !== 0 || locator.readUInt32LE(16) > 1) throw multiDisk(refuse);
  if (recordStart === null || recordStart + END64_BYTES > locatorStart) {
    throw refuse('bad_length', 'its ZIP64 locator points outside');
  }
  const record = await archive.read(recordStart, END64_BYTES);
  if (record.readUInt32LE(0) !== END64_SIGNATURE) {
    throw refuse('bad_length', 'its ZIP64 locator points at something else');
  }
  const recordBytes = toNumber(record.readBigUInt64LE(4));
  if (recordBytes === null || recordStart + END64_SIZE_LEAVES_OUT + recordBytes !== locatorStart) {
    throw refuse('bad_length', 'the length of its ZIP64 end record is wrong');
  }
  const entries = toNumber(record.readBigUInt64LE(32));
  const bytes = toNumber(record.readBigUInt64LE(40));
  const start = toNumber(record.readBigUInt64LE(48));
  if (entries === null || bytes === null || start === null) {
    throw refuse('bad_length', 'a number in its ZIP64 end record is wrong');
  }
  const isOneDisk = record.readUInt32LE(16) === 0 && record.readUInt32LE(20) === 0;
  if (!isOneDisk || record.readBigUInt64LE(24) !== BigInt(entries)) throw multiDisk(refuse);
  return { entries, bytes, start, recordStart };
}

function checked({ entries, bytes, start }: Directory, directoryLimit: number, refuse: Refuse): ZipEnd {
  // A false count would make a reader spin: every entry takes a header of at least 46 bytes.
  if (entries * CENTRAL_HEADER_BYTES_MIN > bytes)
    throw refuse('bad_length', 'it declares more entries than it can hold');
  if (start + bytes > directoryLimit) throw refuse('bad_length', 'its central directory is said to lie outside');
  if (start + bytes < directoryLimit) {
    throw refuse('trailing_garbage', 'it has bytes between its central directory and its end record');
  }
  return { entries, directoryStart: start, directoryEnd: start + bytes };
}

function sameOr(short: number, long: number, placeholder: number): boolean {
  return short === placeholder || short === long;
}

function toNumber(value: bigint): number | null {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : null;
}

function multiDisk(refuse: Refuse) {
  return refuse('multi_disk', 'it is one part of several');
}
