import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { HEADER_BYTES, RECORD_BYTES, readLayout, readRecord, TABLE_FILE } from './file-table.ts';
import { HashSlots } from './hash-slots.ts';
import { roomFor } from './room-for.ts';

/** 24 to 48 bytes of memory each. */
const DIGESTS_MAX = 2_000_000;
const RECORDS_READ = 1_024;

interface OpenTable {
  readonly fd: number;
  readonly siteDir: string;
  readonly recordsAt: number;
  readonly textAt: number;
  readonly firstRecord: number;
  readonly count: number;
}

/** Files of releases by their digests. The first eight bytes of each digest are in memory, all else stays in the tables on disk. */
export class StoredDigests implements Disposable {
  readonly #tables: OpenTable[] = [];
  readonly #digestsMax: number;
  /** By the first word of a digest. */
  readonly #slots = new HashSlots();
  /** Of each digest its second word, and its record. */
  #seconds = new Uint32Array(1_024);
  #records = new Uint32Array(1_024);
  #used = 0;
  #recordsCount = 0;

  /** @param releaseDirs folders of releases, the first before the next; one that cannot be read is left out */
  constructor(releaseDirs: readonly string[], digestsMax = DIGESTS_MAX) {
    this.#digestsMax = digestsMax;
    for (const releaseDir of releaseDirs) this.#add(releaseDir);
  }

  /** A file that had these bytes when its release was written; null where none is known, or it cannot be read. */
  find(sha256: string): string | null {
    const digest = Buffer.from(sha256, 'hex');
    const second = digest.readUInt32LE(4);
    const number = this.#slots.find(digest.readUInt32LE(0), (known) => this.#seconds[known] === second);
    if (number < 0) return null;
    const record = this.#records[number] as number;
    const table = this.#tables.findLast(({ firstRecord }) => firstRecord <= record);
    return table === undefined ? null : pathIn(table, record - table.firstRecord, sha256);
  }

  [Symbol.dispose](): void {
    for (const { fd } of this.#tables) closeSync(fd);
  }

  #add(releaseDir: string): void {
    if (this.#used === this.#digestsMax) return;
    const table = openTable(releaseDir, this.#recordsCount);
    if (table === null) return;
    this.#tables.push(table);
    for (let from = 0; from < table.count; from += RECORDS_READ) {
      const records = read(table.fd, table.recordsAt + from * RECORD_BYTES, RECORDS_READ * RECORD_BYTES);
      const count = Math.min(table.count - from, Math.floor(records.length / RECORD_BYTES));
      // It is cut off.
      if (count === 0) return;
      this.#recordsCount += count;
      for (let n = 0; n < count; n++) {
        if (this.#used === this.#digestsMax) return;
        const at = n * RECORD_BYTES;
        this.#put(records.readUInt32LE(at), records.readUInt32LE(at + 4), table.firstRecord + from + n);
      }
    }
  }

  #put(first: number, second: number, record: number): void {
    const number = this.#used;
    if (this.#slots.find(first, (known) => this.#seconds[known] === second) >= 0) return;
    this.#used += 1;
    this.#seconds = roomFor(this.#seconds, this.#used);
    this.#records = roomFor(this.#records, this.#used);
    this.#seconds[number] = second;
    this.#records[number] = record;
    this.#slots.add(first, number);
  }
}

/** The file of a record, where it has this digest. */
function pathIn({ fd, siteDir, recordsAt, textAt }: OpenTable, number: number, sha256: string): string | null {
  const bytes = read(fd, recordsAt + number * RECORD_BYTES, RECORD_BYTES);
  if (bytes.length < RECORD_BYTES) return null;
  const record = readRecord(bytes, 0);
  const [pathAt, pathBytes] = record.path;
  if (record.sha256 !== sha256) return null;
  const path = read(fd, textAt + pathAt, pathBytes);
  return path.length === pathBytes ? join(siteDir, path.toString()) : null;
}

/** Null where it cannot be opened, or is no table. */
function openTable(releaseDir: string, firstRecord: number): OpenTable | null {
  let fd: number;
  try {
    fd = openSync(join(releaseDir, TABLE_FILE), 'r');
  } catch {
    return null;
  }
  const layout = readLayout(read(fd, 0, HEADER_BYTES));
  if (layout !== null) return { fd, siteDir: join(releaseDir, 'site'), firstRecord, ...layout };
  closeSync(fd);
  return null;
}

/** Fewer at the end, and none where the disk gives none: files that are not found are written. */
function read(fd: number, at: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  try {
    return buffer.subarray(0, readSync(fd, buffer, 0, bytes, at));
  } catch {
    return buffer.subarray(0, 0);
  }
}
