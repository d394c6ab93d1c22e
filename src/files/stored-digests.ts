import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { HEADER_BYTES, RECORD_BYTES, readLayout, readRecord, TABLE_FILE } from './file-table.ts';

/** 24 to 48 bytes of memory each. */
const DIGESTS_MAX = 2_000_000;
const RECORDS_READ = 1_024;
/** Two words of the digest, and the number of its record, from 1: 0 is an empty slot. */
const SLOT_WORDS = 3;

interface OpenTable {
  readonly fd: number;
  readonly siteDir: string;
  readonly recordsAt: number;
  readonly textAt: number;
  readonly firstNumber: number;
  readonly count: number;
}

/** Files of releases by their digests. The first eight bytes of each digest are in memory, all else stays in the tables on disk. */
export class StoredDigests implements Disposable {
  readonly #tables: OpenTable[] = [];
  readonly #digestsMax: number;
  #slots = new Uint32Array(1_024 * SLOT_WORDS);
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
    const at = this.#placeOf(this.#slots, digest.readUInt32LE(0), digest.readUInt32LE(4));
    const number = (this.#slots[at + 2] as number) - 1;
    const table = this.#tables.findLast(({ firstNumber }) => firstNumber <= number);
    return table === undefined ? null : pathIn(table, number - table.firstNumber, sha256);
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
        this.#put(records.readUInt32LE(at), records.readUInt32LE(at + 4), table.firstNumber + from + n);
      }
    }
  }

  #put(first: number, second: number, number: number): void {
    if ((this.#used + 1) * 2 * SLOT_WORDS > this.#slots.length) this.#grow();
    const at = this.#placeOf(this.#slots, first, second);
    if (this.#slots[at + 2] !== 0) return;
    this.#slots.set([first, second, number + 1], at);
    this.#used += 1;
  }

  #grow(): void {
    const former = this.#slots;
    this.#slots = new Uint32Array(former.length * 2);
    for (let from = 0; from < former.length; from += SLOT_WORDS) {
      if (former[from + 2] === 0) continue;
      const at = this.#placeOf(this.#slots, former[from] as number, former[from + 1] as number);
      this.#slots.set(former.subarray(from, from + SLOT_WORDS), at);
    }
  }

  /** Of the digest's slot, or of the empty one that it would have. */
  #placeOf(slots: Uint32Array, first: number, second: number): number {
    const count = slots.length / SLOT_WORDS;
    for (let slot = first & (count - 1); ; slot = (slot + 1) & (count - 1)) {
      const at = slot * SLOT_WORDS;
      if (slots[at + 2] === 0 || (slots[at] === first && slots[at + 1] === second)) return at;
    }
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
function openTable(releaseDir: string, firstNumber: number): OpenTable | null {
  let fd: number;
  try {
    fd = openSync(join(releaseDir, TABLE_FILE), 'r');
  } catch {
    return null;
  }
  const layout = readLayout(read(fd, 0, HEADER_BYTES));
  if (layout !== null) return { fd, siteDir: join(releaseDir, 'site'), firstNumber, ...layout };
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
