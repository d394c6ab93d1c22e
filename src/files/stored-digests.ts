import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { HEADER_BYTES, RECORD_BYTES, readLayout, readRecord, TABLE_FILE } from './file-table.ts';

/** 24 to 48 bytes of memory each. */
const DIGESTS_MAX = 2_000_000;
const RECORDS_READ = 1_024;
/** Two words of the digest, and the number of its record from 1. */
const SLOT_WORDS = 3;

interface OpenTable {
  readonly fd: number;
  readonly siteDir: string;
  readonly recordsAt: number;
  readonly textAt: number;
  readonly firstNumber: number;
  readonly count: number;
}

/** Files of releases by their digests: the beginnings of those are in memory, all else stays in the tables on disk. */
export class StoredDigests implements Disposable {
  readonly #tables: OpenTable[] = [];
  readonly #digestsMax: number;
  #slots = new Uint32Array(1_024 * SLOT_WORDS);
  #used = 0;

  /** @param releaseDirs folders of releases, the first before the next; one that cannot be read is left out */
  constructor(releaseDirs: readonly string[], digestsMax = DIGESTS_MAX) {
    this.#digestsMax = digestsMax;
    for (const releaseDir of releaseDirs) this.#add(releaseDir);
  }

  /** A file that had these bytes when its release was written; null where none is known. */
  find(sha256: string): string | null {
    const digest = Buffer.from(sha256, 'hex');
    const at = this.#placeOf(this.#slots, digest.readUInt32LE(0), digest.readUInt32LE(4));
    const number = (this.#slots[at + 2] as number) - 1;
    const table = this.#tables.findLast(({ firstNumber }) => firstNumber <= number);
    if (number < 0 || table === undefined) return null;
    const record = readRecord(
      read(table.fd, table.recordsAt + (number - table.firstNumber) * RECORD_BYTES, RECORD_BYTES),
      0,
    );
    const [pathAt, pathBytes] = record.path;
    return record.sha256 === sha256
      ? join(table.siteDir, read(table.fd, table.textAt + pathAt, pathBytes).toString())
      : null;
  }

  [Symbol.dispose](): void {
    for (const { fd } of this.#tables) closeSync(fd);
  }

  #add(releaseDir: string): void {
    const table = openTable(
      releaseDir,
      this.#tables.reduce((sum, { count }) => sum + count, 0),
    );
    if (table === null) return;
    this.#tables.push(table);
    for (let from = 0; from < table.count; from += RECORDS_READ) {
      const records = read(table.fd, table.recordsAt + from * RECORD_BYTES, RECORDS_READ * RECORD_BYTES);
      const count = Math.min(table.count - from, Math.floor(records.length / RECORD_BYTES));
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
    const slots = new Uint32Array(this.#slots.length * 2);
    for (let from = 0; from < this.#slots.length; from += SLOT_WORDS) {
      const [first, second, number] = this.#slots.subarray(from, from + SLOT_WORDS) as unknown as [
        number,
        number,
        number,
      ];
      if (number !== 0) slots.set([first, second, number], this.#placeOf(slots, first, second));
    }
    this.#slots = slots;
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

function read(fd: number, at: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  return buffer.subarray(0, readSync(fd, buffer, 0, bytes, at));
}
