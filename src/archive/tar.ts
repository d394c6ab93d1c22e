import { pipeline, Readable } from 'node:stream';
import { type Extract, extract } from 'tar-stream';
import { DocshelfError } from '../domain/errors.ts';
import type { ArchiveFile } from './archive-file.ts';
import { gunzip, isZeros, unzstd } from './compression.ts';
import type { ArchiveEntry } from './layout.ts';
import type { ArchiveFormat } from './listing.ts';
import { type ArchiveCode, canonicalName, checkRatio, decodeName } from './rules.ts';

/** `extract` of tar-stream with the option `allowUnknownFormat`, which its types lack. */
type OpenTar = (options: { readonly allowUnknownFormat: boolean }) => Extract;

type TarFormat = Exclude<ArchiveFormat, 'zip'>;

/** @throws DocshelfError `ratio_too_high`, `truncated`, `trailing_garbage`, `wrong_crc`, `wrong_size`, `window_too_large` */
async function* tarBytes(archive: ArchiveFile, format: TarFormat): AsyncGenerator<Buffer> {
  const { limits, refuse } = archive;
  if (format === 'tar') return yield* archive.chunks();
  let bytes = 0;
  for await (const chunk of format === 'tar.gz' ? gunzip(archive) : unzstd(archive.chunks(), limits, refuse)) {
    bytes += chunk.length;
    checkRatio(bytes, archive.bytes, limits, refuse);
    yield chunk;
  }
}

/** True if a tar needs no end blocks, because its compressed stream has an end mark or its SHA-256 was verified. */
const isKnownWhole = (archive: ArchiveFile, format: TarFormat): boolean => format !== 'tar' || archive.isVerified;

/** @throws DocshelfError errors of `TarGuard`. Damage of the compressed data takes precedence over damage of the tar */
export async function walkTar(
  archive: ArchiveFile,
  format: TarFormat,
  onMember: (member: TarMember) => void,
): Promise<void> {
  const guard = new TarGuard(archive, onMember);
  let damage: unknown = null;
  let bytes = 0;
  for await (const chunk of tarBytes(archive, format)) {
    bytes += chunk.length;
    if (damage === null) {
      try {
        guard.push(chunk);
      } catch (error) {
        if (!isDamage(error)) throw error;
        // If the tar is damaged, read on, because the checksum at the end of the compressed data can show the actual cause.
        damage = error;
      }
    } else if (bytes > archive.limits.totalBytesMax) break;
  }
  if (damage !== null) throw damage;
  guard.end(isKnownWhole(archive, format));
}

const isDamage = (error: unknown): boolean =>
  error instanceof DocshelfError && (error.code === 'unknown_format' || error.code === 'damaged_archive');

/**
 * @param take callback that must read the content of a file to its end. The content of a folder is null
 * @throws DocshelfError errors of `TarGuard`
 */
export async function readTar(
  archive: ArchiveFile,
  format: TarFormat,
  take: (member: TarMember, content: AsyncIterable<Buffer> | null) => Promise<void>,
): Promise<void> {
  // Members that `TarGuard` has checked, but tar-stream has not returned yet. The list is short, because the pipeline buffers
  // only a few chunks.
  const seen: TarMember[] = [];
  const guard = new TarGuard(archive, (member) => seen.push(member));
  // Accept tars older than 1988, which have no magic. `TarGuard` has checked the checksums of their headers.
  const reader = (extract as OpenTar)({ allowUnknownFormat: true });
  pipeline(Readable.from(guarded(archive, format, guard)), reader, () => {});
  for await (const entry of reader) {
    const member = seen.shift();
    if (member === undefined || entry.header.name !== member.rawName || entry.header.size !== member.size)
      throw archive.refuse('damaged_archive', 'can be read in two ways', { entry: entry.header.name });
    await take(member, member.kind === 'file' ? (entry as AsyncIterable<Buffer>) : null);
    entry.resume();
  }
}

async function* guarded(archive: ArchiveFile, format: TarFormat, guard: TarGuard): AsyncGenerator<Buffer> {
  for await (const chunk of tarBytes(archive, format)) {
    guard.push(chunk);
    yield chunk;
  }
  guard.end(isKnownWhole(archive, format));
}

/** Maximum bytes of a PAX or long-name header. Far more than a name of 4,096 bytes and all attributes that tools write. */
const EXTENDED_BYTES_MAX = 1024 ** 2;
/** Maximum headers per file: a global, a local, a long-name, a long-link and an entry header, for the file and also for its folder. */
const HEADERS_PER_FILE_MAX = 2 * 5;
/** Maximum zero bytes after the end blocks. tar pads to its record size: 10 KiB by default, 1 MiB on large tapes. */
const PADDING_BYTES_MAX = 1024 ** 2;

const REFUSED_TYPES: Readonly<Record<string, readonly [ArchiveCode, string]>> = {
  1: ['type_hardlink', 'is a hard link'],
  2: ['type_symlink', 'is a symbolic link'],
  3: ['type_device', 'is a character device'],
  4: ['type_device', 'is a block device'],
  6: ['type_fifo', 'is a FIFO'],
  S: ['type_sparse', 'is a sparse file'],
};
const UNKNOWN_TYPE = ['type_unknown', 'is neither a file nor a folder'] as const;

interface TarMember extends ArchiveEntry {
  readonly rawName: string;
}

type Extended = 'x' | 'g' | 'L' | 'K';

/** Checks names, types, PAX lengths and end blocks, unlike tar-stream. Rejects folders with a size, on which tar-stream hangs. */
class TarGuard {
  readonly #refuse: ArchiveFile['refuse'];
  readonly #limits: ArchiveFile['limits'];
  readonly #onMember: (member: TarMember) => void;

  #held = Buffer.alloc(TAR_BLOCK_BYTES);
  #heldBytes = 0;
  #extended: Extended | null = null;
  #skipBytes = 0;
  #headers = 0;
  #zeroBlocks = 0;
  #paddingBytes = 0;
  #extendedBytes = 0;
  #pax: Map<string, Buffer> | null = null;
  #longName: Buffer | null = null;

  constructor({ refuse, limits }: Pick<ArchiveFile, 'refuse' | 'limits'>, onMember: (member: TarMember) => void) {
    this.#refuse = refuse;
    this.#limits = limits;
    this.#onMember = onMember;
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#zeroBlocks === 2) {
        this.#padding(chunk.subarray(at));
        return;
      }
      if (this.#skipBytes > 0) {
        const passed = Math.min(this.#skipBytes, chunk.length - at);
        this.#skipBytes -= passed;
        at += passed;
        continue;
      }
      const copied = chunk.copy(this.#held, this.#heldBytes, at);
      this.#heldBytes += copied;
      at += copied;
      if (this.#heldBytes === this.#held.length) this.#take();
    }
  }

  /** @param isKnownWhole true to accept a tar without end blocks, because many writers omit one or both */
  end(isKnownWhole: boolean): void {
    const isInEntry = this.#skipBytes > 0 || this.#extended !== null || this.#pax !== null || this.#longName !== null;
    if (isInEntry) throw this.#refuse('truncated', 'it is cut off inside an entry');
    if (this.#heldBytes > 0) throw this.#refuse('truncated', 'it ends in the middle of a block');
    if (this.#zeroBlocks < 2 && !isKnownWhole) {
      throw this.#refuse('truncated', 'it is cut off: its two end blocks are missing', {
        next: 'Fetch or copy the archive again. If the archive has the same SHA-256 as the original, set staticExport.sha256 to this digest.',
      });
    }
    if (this.#paddingBytes % TAR_BLOCK_BYTES !== 0) throw this.#refuse('truncated', 'it ends in the middle of a block');
  }

  #padding(bytes: Buffer): void {
    this.#paddingBytes += bytes.length;
    if (!isZeros(bytes)) throw this.#refuse('trailing_garbage', 'it has more bytes after its end');
    if (this.#paddingBytes > PADDING_BYTES_MAX)
      throw this.#refuse('trailing_garbage', `it has more than ${PADDING_BYTES_MAX} bytes of padding after its end`);
  }

  #take(): void {
    const bytes = this.#held;
    const extended = this.#extended;
    this.#held = Buffer.alloc(TAR_BLOCK_BYTES);
    this.#heldBytes = 0;
    this.#extended = null;
    if (extended !== null) this.#takeExtended(extended, bytes);
    else if (isZeros(bytes)) this.#takeZeros();
    else this.#takeHeader(bytes);
  }

  #takeZeros(): void {
    this.#zeroBlocks += 1;
    if (this.#pax !== null || this.#longName !== null)
      throw this.#refuse('damaged_archive', 'it has an extended header without the entry that it is for');
  }

  #takeHeader(block: Buffer): void {
    if (!isTarHeader(block)) {
      const isFirst = this.#headers === 0 && this.#zeroBlocks === 0;
      if (isFirst && !hasTarMagic(block)) throw this.#refuse('unknown_format', 'its content is not a tar archive');
      if (this.#zeroBlocks > 0) throw this.#refuse('trailing_garbage', 'it has more bytes after its end');
      throw this.#refuse('damaged_archive', 'the checksum of a header is wrong');
    }
    if (this.#zeroBlocks > 0) throw this.#refuse('trailing_garbage', 'it has entries after its end');
    this.#headers += 1;
    if (this.#headers > this.#limits.entriesMax * HEADERS_PER_FILE_MAX) {
      throw this.#refuse(
        'too_many_entries',
        `it has more headers than ${this.#limits.entriesMax} files and folders need`,
      );
    }
    const { name, size, type } = readHeader(block);
    if (size === null) throw this.#refuse('bad_length', 'has a size that is not a number', { entry: name.toString() });
    if (type === 'x' || type === 'g' || type === 'L' || type === 'K') this.#beginExtended(type, size);
    else this.#takeEntry(name, size, type);
  }

  #beginExtended(type: Extended, size: number): void {
    if ((type === 'x' && this.#pax !== null) || (type === 'L' && this.#longName !== null))
      throw this.#refuse('damaged_archive', 'it has two extended headers for one entry');
    this.#extendedBytes += size;
    if (size > EXTENDED_BYTES_MAX)
      throw this.#refuse('bad_length', `it has an extended header of more than ${EXTENDED_BYTES_MAX} bytes`);
    if (this.#extendedBytes > this.#limits.totalBytesMax)
      throw this.#refuse('total_too_large', 'its extended headers are larger than all its files may be');
    if (size === 0) this.#takeExtended(type, Buffer.alloc(0));
    else {
      this.#extended = type;
      this.#held = Buffer.alloc(size);
    }
  }

  #takeExtended(type: Extended, body: Buffer): void {
    this.#skipBytes = paddingOf(body.length);
    if (type === 'K') return; // Skip the target of a link, because docshelf rejects the link itself.
    if (type === 'L') {
      const name = untilNul(body);
      if (!isZeros(body.subarray(name.length)))
        throw this.#refuse('name_control', 'has a NUL in its name', { entry: body.toString() });
      this.#longName = name;
      return;
    }
    const records = readPaxRecords(body);
    if (records === null) throw this.#refuse('bad_length', 'the length of a PAX record is wrong');
    if (type === 'x') this.#pax = records;
    // Reject names and sizes in a global header, because tar-stream ignores them without a local header, but other tools do not.
    else if (records.keys().some((key) => ['path', 'linkpath', 'size'].includes(key) || isOfSparseFile(key))) {
      throw this.#refuse('damaged_archive', 'a global PAX header names a path or a size');
    }
  }

  #takeEntry(headerName: Buffer, headerSize: number, type: string): void {
    const paxName = this.#pax?.get('path');
    const nameBytes = paxName?.length ? paxName : (this.#longName ?? headerName);
    const sizeRecord = this.#pax?.get('size')?.toString('latin1');
    const sparseName = this.#pax?.get('GNU.sparse.name');
    const shownType = this.#pax?.keys().some(isOfSparseFile) === true ? 'S' : type;
    this.#pax = null;
    this.#longName = null;

    const refused = REFUSED_TYPES[shownType] ?? (type === '0' || type === '5' ? null : UNKNOWN_TYPE);
    if (refused) throw this.#refuse(...refused, { entry: (sparseName ?? nameBytes).toString() });
    const rawName = decodeName(nameBytes, this.#refuse);
    const name = canonicalName(rawName, this.#limits, this.#refuse);
    if (sizeRecord && !/^[0-9]{1,15}$/.test(sizeRecord))
      throw this.#refuse('bad_length', 'has a size that is not a number', { entry: rawName });
    const size = sizeRecord ? Number(sizeRecord) : headerSize;
    // Old tars mark folders only by a slash at the end of the name.
    const kind = type === '5' || rawName.endsWith('/') || name === '' ? 'folder' : 'file';
    if (kind === 'folder' && size !== 0)
      throw this.#refuse('folder_with_size', 'is a folder with a size', { entry: rawName });
    this.#skipBytes = size + paddingOf(size);
    this.#onMember({ name, kind, size, rawName });
  }
}

/** Matches keys of the PAX records that GNU tar writes before a sparse file, in all three versions of its format. */
const isOfSparseFile = (key: string): boolean => key.startsWith('GNU.sparse.');

const paddingOf = (size: number): number => (TAR_BLOCK_BYTES - (size % TAR_BLOCK_BYTES)) % TAR_BLOCK_BYTES;

/** Format of a header block: POSIX.1-2024, pax, "ustar Interchange Format". */

export const TAR_BLOCK_BYTES = 512;

const CHECKSUM_AT = 148;
const CHECKSUM_BYTES = 8;
const SPACE = 0x20;

/** True for ustar, pax and GNU tar, without a check of the checksum. Tars older than 1988 have no magic. */
const hasTarMagic = (block: Buffer): boolean => block.subarray(257, 262).equals(Buffer.from('ustar'));

/** The checksum is the sum of the block's bytes. The bytes of the checksum field count as spaces. */
export function isTarHeader(block: Uint8Array): boolean {
  let sum = CHECKSUM_BYTES * SPACE;
  for (let at = 0; at < TAR_BLOCK_BYTES; at += 1) {
    if (at < CHECKSUM_AT || at >= CHECKSUM_AT + CHECKSUM_BYTES) sum += block[at] ?? 0;
  }
  return sum === readNumber(Buffer.from(block.subarray(CHECKSUM_AT, CHECKSUM_AT + CHECKSUM_BYTES)));
}

function readHeader(block: Buffer) {
  const isUstar = block.subarray(257, 263).equals(Buffer.from('ustar\0'));
  const name = untilNul(block.subarray(0, 100));
  const prefix = isUstar ? untilNul(block.subarray(345, 500)) : Buffer.alloc(0);
  // Old tars mark a file with NUL instead of `0`.
  const type = block[156] === 0 ? '0' : String.fromCharCode(block[156] ?? 0);
  return {
    name: prefix.length === 0 ? Buffer.from(name) : Buffer.concat([prefix, Buffer.from('/'), name]),
    size: readNumber(block.subarray(124, 136)),
    type,
  };
}

/** Reads octal digits, surrounded by spaces and NULs, or GNU's base-256 number after 0x80. */
function readNumber(field: Buffer): number | null {
  if (field[0] === 0x80) {
    const value = BigInt(`0x${field.subarray(1).toString('hex')}`);
    return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : null;
  }
  const match = /^ *([0-7]*)[ \0]*$/.exec(field.toString('latin1'));
  return match === null ? null : Number.parseInt(match[1] || '0', 8);
}

function untilNul(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0);
  return end < 0 ? bytes : bytes.subarray(0, end);
}

/** Reads lines of `<length> <key>=<value>`. If a key is repeated, uses its last line. Null if a length is wrong. */
function readPaxRecords(payload: Buffer): Map<string, Buffer> | null {
  const records = new Map<string, Buffer>();
  for (let at = 0; at < payload.length; ) {
    const space = payload.indexOf(SPACE, at);
    const digits = space < 0 ? '' : payload.toString('latin1', at, space);
    if (!/^[1-9][0-9]{0,9}$/.test(digits)) return null;
    const end = at + Number(digits);
    const equals = payload.indexOf('=', space);
    if (end > payload.length || payload[end - 1] !== 0x0a || equals < 0 || equals >= end - 1) return null;
    records.set(payload.toString('utf8', space + 1, equals), payload.subarray(equals + 1, end - 1));
    at = end;
  }
  return records;
}
