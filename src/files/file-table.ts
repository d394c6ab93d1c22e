import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { DocshelfError } from '../domain/errors.ts';
import type { FileEntry, FileTable } from '../domain/release.ts';
import { firstFrom, saltedHash } from './flat-tables.ts';
import { ifThere } from './read.ts';

export const TABLE_FILE = 'files.table';

/** File table in little-endian: header, hash slots, records sorted by path, text. 110,000 files take 14 MiB in memory and on disk. */
const MAGIC = 'DSFT';
const FORMAT_VERSION = 1;
const HEADER_BYTES = 32;
const CHECKSUM_AT = 28;
const SLOT_BYTES = 8;
const RECORD_BYTES = 52;
/** Maximum share of filled slots, low enough that most look-ups of missing paths end at the first slot. */
const FILLED_MAX = 1 / 2;
const NAMES_MAX = 1024;
/** Character after the slash in ASCII. In path order, `folder0` comes directly after all paths that begin with `folder/`. */
const AFTER_SLASH = '0';
const SLOTS_READ = 32;

type Layout = ReturnType<typeof layoutOf>;

function layoutOf(salt: number, count: number, slots: number, textBytes: number) {
  const recordsAt = HEADER_BYTES + slots * SLOT_BYTES;
  const textAt = recordsAt + count * RECORD_BYTES;
  return { salt, count, slots, recordsAt, textAt, end: textAt + textBytes };
}

/** @param files each path once, sorted by path (UTF-16 code units). The function iterates over `files` several times */
export async function writeFileTable(releaseDir: string, files: Iterable<FileEntry>): Promise<void> {
  await writeFile(join(releaseDir, TABLE_FILE), encode(files), { flag: 'wx' });
}

function encode(files: Iterable<FileEntry>): Buffer {
  let count = 0;
  let textBytes = 0;
  const typesAt = new Map<string, { at: number; bytes: number }>();
  let pathsBytes = 0;
  for (const { path, type } of files) {
    count += 1;
    pathsBytes += Buffer.byteLength(path);
    if (typesAt.has(type)) continue;
    const bytes = Buffer.byteLength(type);
    typesAt.set(type, { at: textBytes, bytes });
    textBytes += bytes;
  }
  let textAt = textBytes;
  textBytes += pathsBytes;
  const slots = 2 ** Math.ceil(Math.log2(Math.max(1, count / FILLED_MAX)));
  const layout = layoutOf(randomBytes(4).readUInt32LE(), count, slots, textBytes);
  const table = Buffer.alloc(layout.end);
  for (const [type, { at }] of typesAt) table.write(type, layout.textAt + at);
  let index = 0;
  for (const { path, size, sha256, type } of files) {
    const at = layout.recordsAt + index * RECORD_BYTES;
    const pathBytes = table.write(path, layout.textAt + textAt);
    const { at: typeAt = 0, bytes: typeBytes = 0 } = typesAt.get(type) ?? {};
    table.write(sha256, at, 'hex');
    table.writeDoubleLE(size, at + 32);
    table.writeUInt32LE(textAt, at + 40);
    table.writeUInt32LE(typeAt, at + 44);
    table.writeUInt16LE(pathBytes, at + 48);
    table.writeUInt16LE(typeBytes, at + 50);
    textAt += pathBytes;
    const wanted = saltedHash(layout.salt, path);
    let slot = wanted & (slots - 1);
    while (table.readUInt32LE(slotAt(slot) + 4) !== 0) slot = (slot + 1) & (slots - 1);
    table.writeUInt32LE(wanted, slotAt(slot));
    index += 1;
    table.writeUInt32LE(index, slotAt(slot) + 4);
  }
  table.write(MAGIC, 'latin1');
  table.writeUInt32LE(FORMAT_VERSION, 4);
  table.writeUInt32LE(count, 8);
  table.writeUInt32LE(slots, 12);
  table.writeUInt32LE(textBytes, 16);
  table.writeUInt32LE(layout.salt, 20);
  table.writeUInt32LE(checksumOf(table), CHECKSUM_AT);
  return table;
}

const slotAt = (slot: number): number => HEADER_BYTES + slot * SLOT_BYTES;

const checksumOf = (table: Buffer): number =>
  crc32(table.subarray(HEADER_BYTES), crc32(table.subarray(0, CHECKSUM_AT)));

function readLayout(header: Buffer): Layout | null {
  if (header.length < HEADER_BYTES || header.toString('latin1', 0, 4) !== MAGIC) return null;
  if (header.readUInt32LE(4) !== FORMAT_VERSION) return null;
  const salt = header.readUInt32LE(20);
  return layoutOf(salt, header.readUInt32LE(8), header.readUInt32LE(12), header.readUInt32LE(16));
}

function readRecord(table: Buffer, at: number) {
  return {
    sha256: table.toString('hex', at, at + 32),
    size: table.readDoubleLE(at + 32),
    path: [table.readUInt32LE(at + 40), table.readUInt16LE(at + 48)],
    type: [table.readUInt32LE(at + 44), table.readUInt16LE(at + 50)],
  } as const;
}

class PackedFileTable implements FileTable {
  readonly size: number;
  readonly #table: Buffer;
  readonly #layout: Layout;

  constructor(table: Buffer, layout: Layout) {
    this.size = layout.count;
    this.#table = table;
    this.#layout = layout;
  }

  has(path: string): boolean {
    return this.#indexOf(path) !== null;
  }

  get(path: string): FileEntry | undefined {
    const index = this.#indexOf(path);
    return index === null ? undefined : this.#entryAt(index);
  }

  *values(): Generator<FileEntry> {
    for (let index = 0; index < this.size; index++) yield this.#entryAt(index);
  }

  namesIn(folder: string): string[] {
    const names: string[] = [];
    let index = this.#firstFrom(folder);
    for (let looks = 0; index < this.size && looks < NAMES_MAX; looks++) {
      const path = this.#pathAt(index);
      if (!path.startsWith(folder)) break;
      const slash = path.indexOf('/', folder.length);
      if (slash === -1) {
        names.push(path.slice(folder.length));
        index += 1;
      } else index = this.#firstFrom(path.slice(0, slash) + AFTER_SLASH);
    }
    return names;
  }

  #firstFrom(path: string): number {
    return firstFrom(this.size, (index) => this.#pathAt(index) < path);
  }

  #indexOf(path: string): number | null {
    const { salt, slots } = this.#layout;
    const wanted = saltedHash(salt, path);
    for (let slot = wanted & (slots - 1); ; slot = (slot + 1) & (slots - 1)) {
      const record = this.#table.readUInt32LE(slotAt(slot) + 4);
      if (record === 0) return null;
      if (this.#table.readUInt32LE(slotAt(slot)) === wanted && this.#pathAt(record - 1) === path) return record - 1;
    }
  }

  #pathAt(index: number): string {
    const at = this.#layout.recordsAt + index * RECORD_BYTES;
    return this.#text([this.#table.readUInt32LE(at + 40), this.#table.readUInt16LE(at + 48)]);
  }

  #entryAt(index: number): FileEntry {
    const { path, size, sha256, type } = readRecord(this.#table, this.#layout.recordsAt + index * RECORD_BYTES);
    return { path: this.#text(path), size, sha256, type: this.#text(type) };
  }

  #text([at, bytes]: readonly [number, number]): string {
    const start = this.#layout.textAt + at;
    return this.#table.toString('utf8', start, start + bytes);
  }
}

/** @throws DocshelfError `release_damaged`, NodeJS.ErrnoException if the table cannot be read */
export async function readFileTable(releaseDir: string): Promise<FileTable> {
  const table = await readFile(join(releaseDir, TABLE_FILE));
  const layout = readLayout(table);
  const isWhole = layout !== null && layout.end === table.length && layout.slots > layout.count;
  if (isWhole && table.readUInt32LE(CHECKSUM_AT) === checksumOf(table)) return new PackedFileTable(table, layout);
  throw damaged(releaseDir);
}

/** Finds one entry without reading the whole table. Null if the entry or the release is missing. @throws as `readFileTable` */
export async function findInTable(releaseDir: string, path: string): Promise<FileEntry | null> {
  await using handle = await ifThere(open(join(releaseDir, TABLE_FILE)));
  if (handle === null) return null;
  const layout = readLayout(await readBlock(handle, 0, HEADER_BYTES));
  if (layout === null) throw damaged(releaseDir);
  const { salt, slots, recordsAt, textAt } = layout;
  const textOf = async ([at, bytes]: readonly [number, number]): Promise<string> =>
    (await readBlock(handle, textAt + at, bytes)).toString();
  const wanted = saltedHash(salt, path);
  let slot = wanted & (slots - 1);
  for (let seen = 0; seen <= slots; ) {
    const block = await readBlock(handle, slotAt(slot), Math.min(SLOTS_READ, slots - slot) * SLOT_BYTES);
    for (let at = 0; at + SLOT_BYTES <= block.length; at += SLOT_BYTES) {
      const record = block.readUInt32LE(at + 4);
      if (record === 0) return null;
      if (block.readUInt32LE(at) !== wanted) continue;
      const bytes = await readBlock(handle, recordsAt + (record - 1) * RECORD_BYTES, RECORD_BYTES);
      if (bytes.length < RECORD_BYTES) throw damaged(releaseDir);
      const found = readRecord(bytes, 0);
      if ((await textOf(found.path)) === path)
        return { path, size: found.size, sha256: found.sha256, type: await textOf(found.type) };
    }
    if (block.length === 0) break;
    seen += block.length / SLOT_BYTES;
    slot = (slot + block.length / SLOT_BYTES) & (slots - 1);
  }
  throw damaged(releaseDir);
}

async function readBlock(handle: FileHandle, at: number, bytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(bytes), 0, bytes, at);
  return buffer.subarray(0, bytesRead);
}

function damaged(releaseDir: string): DocshelfError {
  return new DocshelfError('release_damaged', `Cannot read "${join(releaseDir, TABLE_FILE)}": it is damaged`, {
    next: 'Import the bundle of this version again.',
  });
}

/** Maximum digests in memory, about 200 bytes each. An import copies files beyond this number instead of linking them. */
const DIGESTS_MAX = 400_000;

/** Paths of files in releases, by the digest in their file table. Earlier releases take precedence. Skips unreadable releases. */
export async function storedDigests(releaseDirs: readonly string[], digestsMax = DIGESTS_MAX) {
  const files = new Map<string, string>();
  for (const releaseDir of releaseDirs) {
    const table = await readFileTable(releaseDir).catch(() => null);
    const siteDir = join(releaseDir, 'site');
    for (const { sha256, path } of table?.values() ?? []) {
      if (files.size === digestsMax) return files;
      if (!files.has(sha256)) files.set(sha256, `${siteDir}/${path}`);
    }
  }
  return files;
}
