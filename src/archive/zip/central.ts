import { crc32 } from 'node:zlib';
import { type ArchiveFile, ReadAhead } from '../archive-file.ts';
import type { ArchiveEntry } from '../layout.ts';
import { type ArchiveCode, canonicalName, decodeName, type Refuse } from '../rules.ts';

/** End record of a zip and its ZIP64 forms (APPNOTE.TXT 4.3.14 to 4.3.16). */

const END_SIGNATURE = 0x06054b50;
const END_BYTES = 22;
const COMMENT_BYTES_MAX = 0xffff;
const LOCATOR_SIGNATURE = 0x07064b50;
const LOCATOR_BYTES = 20;
const END64_SIGNATURE = 0x06064b50;
const END64_BYTES = 56;
/** Bytes that the size field of the ZIP64 end record does not count: signature and size field (APPNOTE.TXT 4.3.14.1). */
const END64_SIZE_LEAVES_OUT = 12;
const CENTRAL_HEADER_BYTES_MIN = 46;

export type ZipEnd = { readonly entries: number; readonly directoryStart: number; readonly directoryEnd: number };

/** @throws DocshelfError `truncated`, `trailing_garbage`, `bad_length`, `multi_disk`, `damaged_archive` */
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
  // Reject two end records, because readers would disagree on which of them is valid.
  if (second !== undefined) throw refuse('damaged_archive', 'it has two end records');
  if (found !== undefined) return found.at;
  if (records.some(({ end }) => end > tail.length)) throw refuse('bad_length', 'the length of its comment is wrong');
  if (records.length > 0) throw refuse('trailing_garbage', 'it has more bytes after its end record');
  throw refuse('truncated', 'it is cut off: its end record is missing');
}

async function readEnd64(archive: ArchiveFile, locator: Buffer, locatorStart: number) {
  const { refuse } = archive;
  const recordStart = toNumber(locator.readBigUInt64LE(8));
  if (locator.readUInt32LE(4) !== 0 || locator.readUInt32LE(16) > 1) throw multiDisk(refuse);
  if (recordStart === null || recordStart + END64_BYTES > locatorStart)
    throw refuse('bad_length', 'its ZIP64 locator points outside the archive');
  const record = await archive.read(recordStart, END64_BYTES);
  if (record.readUInt32LE(0) !== END64_SIGNATURE)
    throw refuse('bad_length', 'its ZIP64 locator points to a position without a ZIP64 end record');
  const recordBytes = toNumber(record.readBigUInt64LE(4));
  if (recordBytes === null || recordStart + END64_SIZE_LEAVES_OUT + recordBytes !== locatorStart)
    throw refuse('bad_length', 'the length of its ZIP64 end record is wrong');
  const entries = toNumber(record.readBigUInt64LE(32));
  const bytes = toNumber(record.readBigUInt64LE(40));
  const start = toNumber(record.readBigUInt64LE(48));
  if (entries === null || bytes === null || start === null)
    throw refuse('bad_length', 'a number in its ZIP64 end record is wrong');
  const isOneDisk = record.readUInt32LE(16) === 0 && record.readUInt32LE(20) === 0;
  if (!isOneDisk || record.readBigUInt64LE(24) !== BigInt(entries)) throw multiDisk(refuse);
  return { entries, bytes, start, recordStart };
}

function checked({ entries, bytes, start }: Directory, directoryLimit: number, refuse: Refuse): ZipEnd {
  // Reject more entries than the directory has space for, because a reader would stay in a long loop.
  if (entries * CENTRAL_HEADER_BYTES_MIN > bytes)
    throw refuse('bad_length', 'it declares more entries than it can contain');
  if (start + bytes > directoryLimit)
    throw refuse('bad_length', 'it declares that its central directory is outside the archive');
  if (start + bytes < directoryLimit)
    throw refuse('trailing_garbage', 'it has bytes between its central directory and its end record');
  return { entries, directoryStart: start, directoryEnd: start + bytes };
}

const sameOr = (short: number, long: number, placeholder: number): boolean => short === placeholder || short === long;

const toNumber = (value: bigint): number | null => (value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : null);

const multiDisk = (refuse: Refuse) => refuse('multi_disk', 'it is one part of a split archive');

/** Central directory of a zip (APPNOTE.TXT 4.3.12), with one header per entry. */

const CENTRAL_SIGNATURE = 0x02014b50;
const CENTRAL_BYTES = 46;
const FLAG_DESCRIPTOR = 0x0008;
const FLAG_UTF8 = 0x0800;
/** Flags of an encrypted entry, a strongly encrypted entry, and an encrypted directory. */
const FLAGS_ENCRYPTED = 0x0001 | 0x0040 | 0x2000;
const FLAG_PATCH = 0x0020;
const METHOD_STORED = 0;
const METHOD_DEFLATED = 8;
const METHOD_AES = 99;
const EMPTY_DEFLATE_BYTES = 2;
const DOS_FOLDER = 0x10;

export interface ZipEntry extends ArchiveEntry {
  readonly flags: number;
  readonly hasDescriptor: boolean;
  readonly method: number;
  readonly crc: number;
  readonly compressedBytes: number;
  readonly localStart: number;
  readonly nameBytes: Buffer;
}

type ModeType = 'file' | 'folder' | readonly [ArchiveCode, string];

/** Types by the `S_IFMT` bits of a Unix mode (inode(7)). Rejected types have an error code. */
const MODE_TYPES: ReadonlyMap<number, ModeType> = new Map<number, ModeType>([
  [0o100000, 'file'],
  [0o040000, 'folder'],
  [0o120000, ['type_symlink', 'is a symbolic link']],
  [0o020000, ['type_device', 'is a character device']],
  [0o060000, ['type_device', 'is a block device']],
  [0o010000, ['type_fifo', 'is a FIFO']],
]);

export async function* centralEntries(
  archive: ArchiveFile,
  end: ZipEnd,
): AsyncGenerator<{ readonly entry: ZipEntry; readonly at: number }> {
  const { refuse } = archive;
  const ahead = new ReadAhead(archive);
  let at = end.directoryStart;
  for (let count = 0; count < end.entries; count += 1) {
    const { entry, next } = await readCentralAt(archive, ahead, at, end.directoryEnd);
    yield { entry, at };
    at = next;
  }
  if (at !== end.directoryEnd) throw refuse('bad_length', 'its central directory is longer than its entries');
}

export async function readCentralAt(archive: ArchiveFile, ahead: ReadAhead, at: number, directoryEnd: number) {
  const { refuse } = archive;
  const fixed = await ahead.read(at, CENTRAL_BYTES);
  if (at + CENTRAL_BYTES > directoryEnd)
    throw refuse('bad_length', 'its central directory is shorter than its entries');
  if (fixed.readUInt32LE(0) !== CENTRAL_SIGNATURE) throw refuse('damaged_archive', 'a central header is damaged');
  const nameLength = fixed.readUInt16LE(28);
  const variableLength = nameLength + fixed.readUInt16LE(30);
  const next = at + CENTRAL_BYTES + variableLength + fixed.readUInt16LE(32);
  if (next > directoryEnd) throw refuse('bad_length', 'the length of a name, extra field or comment is wrong');
  const variable = await ahead.read(at + CENTRAL_BYTES, variableLength);
  return { entry: readCentral(archive, fixed, variable.subarray(0, nameLength), variable.subarray(nameLength)), next };
}

function readCentral({ limits, refuse }: ArchiveFile, fixed: Buffer, nameBytes: Buffer, extra: Buffer): ZipEntry {
  const refused = (code: ArchiveCode, state: string) => refuse(code, state, { entry: nameBytes.toString() });
  const flags = fixed.readUInt16LE(8);
  const method = fixed.readUInt16LE(10);
  if ((flags & FLAGS_ENCRYPTED) !== 0 || method === METHOD_AES) throw refused('encrypted', 'is encrypted');
  if ((method !== METHOD_STORED && method !== METHOD_DEFLATED) || (flags & FLAG_PATCH) !== 0)
    throw refused('zip_method', `is compressed by method ${method}, neither stored nor deflated`);
  const fields = readExtraFields(extra);
  if (fields === null) throw refused('bad_length', 'has an extra field of a wrong length');
  const disk = fixed.readUInt16LE(34);
  if (disk !== 0 && disk !== 0xffff) throw refused('multi_disk', 'is declared to be in another part of the archive');
  const resolved = resolveZip64([fixed.readUInt32LE(24), fixed.readUInt32LE(20), fixed.readUInt32LE(42)], fields);
  if (resolved === null) throw refused('bad_length', 'has a wrong ZIP64 field');
  const [size = 0, compressedBytes = 0, localStart = 0] = resolved;

  // Names must be UTF-8. Without the UTF-8 flag, writers can use a code page and add the UTF-8 name as the Unicode path field.
  const written = (flags & FLAG_UTF8) === 0 ? unicodePath(nameBytes, fields) : null;
  const rawName = decodeName(written ?? nameBytes, refuse);
  const attributes = fixed.readUInt32LE(38);
  const kind = kindOf(rawName, attributes, refused);
  const name = canonicalName(rawName, limits, refuse);
  if (kind === 'folder' && (size !== 0 || compressedBytes > EMPTY_DEFLATE_BYTES))
    throw refused('folder_with_size', 'is a folder with a size');
  if (method === METHOD_STORED && size !== compressedBytes)
    throw refused('wrong_size', 'has a declared size that differs from its stored size');
  const crc = fixed.readUInt32LE(16);
  const hasDescriptor = (flags & FLAG_DESCRIPTOR) !== 0;
  const ofData = { flags, hasDescriptor, method, crc, compressedBytes, localStart };
  return { name, kind, size, ...ofData, nameBytes: Buffer.from(nameBytes) };
}

/**
 * Reads the kind of an entry from the Unix mode, or from the DOS attribute if there is no mode. A name with a trailing slash is a
 * folder.
 */
function kindOf(rawName: string, attributes: number, refused: (code: ArchiveCode, state: string) => Error) {
  const modeType = (attributes >>> 16) & 0o170000;
  const type = modeType === 0 ? 'file' : MODE_TYPES.get(modeType);
  if (type === undefined) throw refused('type_unknown', 'is neither a file nor a folder');
  if (typeof type !== 'string') throw refused(...type);
  const isDosFolder = modeType === 0 && (attributes & DOS_FOLDER) !== 0;
  return type === 'folder' || rawName.endsWith('/') || isDosFolder ? 'folder' : 'file';
}

const ZIP64 = 0x0001;
/** Info-ZIP's Unicode path: version, CRC of the raw name, name in UTF-8 (APPNOTE.TXT 4.6.9). */
const UNICODE_PATH = 0x7075;

type ExtraFields = ReadonlyMap<number, Buffer>;

/** Keeps the first extra field of each id. Null if a length is wrong or the ZIP64 field is repeated. */
export function readExtraFields(bytes: Buffer): ExtraFields | null {
  const fields = new Map<number, Buffer>();
  for (let at = 0; at < bytes.length; ) {
    if (at + 4 > bytes.length) return null;
    const id = bytes.readUInt16LE(at);
    const end = at + 4 + bytes.readUInt16LE(at + 2);
    if (end > bytes.length || (id === ZIP64 && fields.has(id))) return null;
    if (!fields.has(id)) fields.set(id, bytes.subarray(at + 4, end));
    at = end;
  }
  return fields;
}

/**
 * Replaces each size or offset of 0xffffffff by the next number of the ZIP64 field (APPNOTE.TXT 4.5.3). Returns null if a number
 * is missing or is not a safe integer.
 */
export function resolveZip64(numbers: readonly number[], fields: ExtraFields): number[] | null {
  const field = fields.get(ZIP64) ?? Buffer.alloc(0);
  let at = 0;
  const resolved = numbers.map((number) => {
    if (number !== 0xffffffff) return number;
    if (at + 8 > field.length) return Number.NaN;
    at += 8;
    return Number(field.readBigUInt64LE(at - 8));
  });
  return resolved.every(Number.isSafeInteger) ? resolved : null;
}

function unicodePath(name: Buffer, fields: ExtraFields): Buffer | null {
  const field = fields.get(UNICODE_PATH);
  if (field === undefined || field.length < 5 || field[0] !== 1) return null;
  return field.readUInt32LE(1) === crc32(name) ? field.subarray(5) : null;
}
