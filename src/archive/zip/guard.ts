import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
// Import only this file of unzipper. The main entry point of unzipper needs 5 kB of memory per entry: 1 GB for 200,000 entries.
import unzip from 'unzipper/lib/Open/unzip.js';
import { Lanes } from '../../files/lanes.ts';
import { type ArchiveFile, ReadAhead } from '../archive-file.ts';
import { checkRatio } from '../rules.ts';
import {
  centralEntries,
  readCentralAt,
  readExtraFields,
  readZipEnd,
  resolveZip64,
  type ZipEnd,
  type ZipEntry,
} from './central.ts';

const LOCAL_SIGNATURE = 0x04034b50;
const LOCAL_BYTES = 30;
const DESCRIPTOR_SIGNATURE = 0x08074b50;
const DESCRIPTOR_BYTES_MAX = 24;

/** Maximum size of the central directory: about 2,000,000 headers with names of 80 bytes. */
const DIRECTORY_BYTES_MAX = 256 * 1024 ** 2;

/** Range of bytes that an entry takes in the archive: local header (APPNOTE.TXT 4.3.7), data, and data descriptor (4.3.9). */
export interface ZipRecord {
  readonly entry: ZipEntry;
  readonly index: number;
  /** Position after the last byte of the entry's data. */
  readonly dataEnd: number;
  readonly end: number;
}

/**
 * Checks that every byte of a zip belongs to exactly one record, so that reading the records in order is safe.
 * @param onEntry callback that may throw an error
 */
export async function guardZip(archive: ArchiveFile, onEntry: (entry: ZipEntry) => void): Promise<void> {
  const directory = await ZipDirectory.read(archive, onEntry);
  for await (const _record of directory.records()) archive.signal?.throwIfAborted();
}

export class ZipDirectory {
  readonly #archive: ArchiveFile;
  readonly #end: ZipEnd;
  /** Positions of the entries' headers in the central directory, and of their local headers. */
  readonly #headers: Float64Array;
  readonly #starts: Float64Array;

  private constructor(archive: ArchiveFile, end: ZipEnd) {
    this.#archive = archive;
    this.#end = end;
    this.#headers = new Float64Array(end.entries);
    this.#starts = new Float64Array(end.entries);
  }

  static async read(archive: ArchiveFile, onEntry: (entry: ZipEntry) => void): Promise<ZipDirectory> {
    const { limits, refuse, signal } = archive;
    const end = await readZipEnd(archive);
    if (end.entries > 2 * limits.entriesMax || end.directoryEnd - end.directoryStart > DIRECTORY_BYTES_MAX)
      throw refuse('too_many_entries', `it lists more than ${2 * limits.entriesMax} files and folders`);
    const directory = new ZipDirectory(archive, end);
    let index = 0;
    let totalBytes = 0;
    for await (const { entry, at } of centralEntries(archive, end)) {
      signal?.throwIfAborted();
      onEntry(entry);
      directory.#headers[index] = at;
      directory.#starts[index] = entry.localStart;
      index += 1;
      totalBytes += entry.size;
    }
    checkRatio(totalBytes, archive.bytes, limits, refuse);
    return directory;
  }

  /** @throws DocshelfError if a local header differs from the central directory, or a byte of the zip is not in exactly one record */
  async *records(): AsyncGenerator<ZipRecord> {
    const archive = this.#archive;
    const { refuse } = archive;
    const { directoryStart, directoryEnd } = this.#end;
    const [central, local] = [new ReadAhead(archive), new ReadAhead(archive)];
    let at = 0;
    const starts = this.#starts;
    const inOrder = Uint32Array.from(starts, (_, index) => index).sort(
      (a, b) => (starts[a] as number) - (starts[b] as number),
    );
    for (const index of inOrder) {
      const { entry } = await readCentralAt(archive, central, this.#headers[index] as number, directoryEnd);
      const { dataEnd, end } = await checkLocalHeader(archive, local, entry, directoryStart);
      if (entry.localStart < at) throw refuse('zip_overlap', 'shares bytes with another entry', { entry: entry.name });
      if (entry.localStart > at)
        throw refuse('trailing_garbage', 'has bytes before it that belong to no entry', { entry: entry.name });
      at = end;
      yield { entry, index, dataEnd, end };
    }
    if (at !== directoryStart)
      throw refuse('trailing_garbage', 'it has bytes between its entries and its central directory');
  }
}

/** @param dataLimit start of the central directory @throws DocshelfError `zip_header_mismatch`, `bad_length` */
async function checkLocalHeader(archive: ArchiveFile, ahead: ReadAhead, entry: ZipEntry, dataLimit: number) {
  const bad = (state: string) => archive.refuse('bad_length', state, { entry: entry.name });
  const mismatch = (what: string, where = 'local header') =>
    archive.refuse('zip_header_mismatch', `has ${what} in its ${where}`, { entry: entry.name });
  const outside = () => bad('is declared to be outside the archive');
  if (entry.localStart + LOCAL_BYTES > dataLimit) throw outside();
  const fixed = await ahead.read(entry.localStart, LOCAL_BYTES);
  if (fixed.readUInt32LE(0) !== LOCAL_SIGNATURE) throw mismatch('no signature');
  if (fixed.readUInt16LE(6) !== entry.flags) throw mismatch('different flags');
  if (fixed.readUInt16LE(8) !== entry.method) throw mismatch('a different compression method');

  const nameLength = fixed.readUInt16LE(26);
  const headerBytes = LOCAL_BYTES + nameLength + fixed.readUInt16LE(28);
  const dataStart = entry.localStart + headerBytes;
  const dataEnd = dataStart + entry.compressedBytes;
  if (dataEnd > dataLimit) throw outside();
  const variable = await ahead.read(entry.localStart + LOCAL_BYTES, headerBytes - LOCAL_BYTES);
  if (!variable.subarray(0, nameLength).equals(entry.nameBytes)) throw mismatch('a different name');
  const fields = readExtraFields(variable.subarray(nameLength));
  if (fields === null) throw bad('has an extra field of a wrong length');
  const sizes = resolveZip64([fixed.readUInt32LE(22), fixed.readUInt32LE(18)], fields);
  if (sizes === null) throw bad('has a wrong ZIP64 field');

  const local = [fixed.readUInt32LE(14), ...sizes];
  const central = [entry.crc, entry.size, entry.compressedBytes];
  const agrees = local.every((value, index) => value === central[index] || (entry.hasDescriptor && value === 0));
  if (!agrees) throw mismatch('a different checksum or size');
  if (!entry.hasDescriptor) return { dataEnd, end: dataEnd };

  const behind = await ahead.read(dataEnd, Math.min(DESCRIPTOR_BYTES_MAX, dataLimit - dataEnd));
  const descriptorBytes = descriptorLength(behind, entry);
  if (descriptorBytes === null) throw mismatch('a different checksum or size', 'data descriptor');
  return { dataEnd, end: dataEnd + descriptorBytes };
}

/** Finds the length of a data descriptor. Tries long forms first: those of an empty entry begin like a short form. */
function descriptorLength(bytes: Buffer, entry: ZipEntry): number | null {
  const { crc, compressedBytes, size } = entry;
  const shorter = Math.max(size, compressedBytes) <= 0xffffffff ? [fourBytes(compressedBytes, size)] : [];
  for (const sizes of [eightBytes(compressedBytes, size), ...shorter]) {
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

/** Number of entries to inflate concurrently, one for each of the four threads of the libuv pool. */
const INFLATING_MAX = 4;

export async function readZip(
  archive: ArchiveFile,
  records: AsyncIterable<ZipRecord>,
  take: (record: ZipRecord, content: AsyncIterable<Buffer>) => Promise<void>,
): Promise<void> {
  await using lanes = new Lanes(INFLATING_MAX);
  for await (const record of records) {
    if (record.entry.kind === 'file') await lanes.run(() => take(record, contentOf(archive, record)));
  }
  await lanes.drain();
}

/** Checks the checksum only if the size is correct, because the caller reports a wrong size. */
async function* contentOf(archive: ArchiveFile, record: ZipRecord): AsyncGenerator<Buffer> {
  const { entry } = record;
  let crc = 0;
  let bytes = 0;
  for await (const chunk of unzipped(archive, record)) {
    crc = crc32(chunk, crc);
    bytes += chunk.length;
    yield chunk;
  }
  if (bytes === entry.size && crc !== entry.crc)
    throw archive.refuse('wrong_crc', 'has a wrong checksum', { entry: entry.name });
}

async function* unzipped(archive: ArchiveFile, { entry, dataEnd }: ZipRecord): AsyncGenerator<Buffer> {
  // Skip empty entries, because unzipper would search for a descriptor with a signature, which may not exist.
  if (entry.compressedBytes === 0) return;
  let fault: { readonly error: unknown } | null = null;
  // unzipper ignores errors of its source. Store such an error, end the source, and throw the stored error later.
  const source = Readable.from(
    (async function* () {
      try {
        yield* archive.chunks(entry.localStart, dataEnd);
      } catch (error) {
        fault = { error };
      }
    })(),
  );
  const facts = {
    flags: 0,
    compressionMethod: entry.method,
    compressedSize: entry.compressedBytes,
    uncompressedSize: entry.size,
  };
  const content = unzip({ stream: () => source }, entry.localStart, null, facts, dataEnd - entry.localStart);
  // Without an `error` listener, a second error of the stream would end the process.
  content.on('error', () => {});
  try {
    yield* content as AsyncIterable<Buffer>;
  } catch (cause) {
    if (fault !== null) throw (fault as { readonly error: unknown }).error;
    throw archive.refuse('damaged_archive', 'has damaged data', { entry: entry.name, cause });
  } finally {
    source.destroy();
  }
}
