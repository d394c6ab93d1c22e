import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { PageSummary } from './page-summary.ts';

/** Raise it with every change to what is read of a page. */
const EXTRACT_VERSION = 3;
const HEADER_BYTES = 24;
const NUMBER_BYTES = 4;
/** In the place of a distance. */
const NOT_SEARCHED = 0xffffffff;
const BLOCK_BYTES = 256 * 1024;
/** That wait to be written: each may be all that its block is held for. */
const RECORDS_AHEAD_MAX = 64;

/** All that decides what is read of a page. */
export interface PageIdentity {
  readonly path: string;
  readonly sha256: string;
  /** Media type with its charset. */
  readonly type: string;
  readonly url: string;
  /** Of the site, for pages that say none. */
  readonly version: string | null;
}

export interface KeptPage {
  /** Null for one that is not searched. */
  readonly summary: PageSummary | null;
  /** All of its record, to be written as it is. */
  readonly bytes: Uint8Array;
}

interface KeptRecord extends KeptPage {
  readonly path: string;
  readonly key: string;
}

/**
 * What is known of the pages, so that the next version reads only those that have changed: `pages.bin`, a record a page in the order of
 * their paths. Both versions are gone through once, side by side. Little-endian:
 *
 * ```
 *  0  uint32   CRC-32 of all that follows
 *  4  uint32   bytes of the path
 *  8  uint32   bytes of the key
 * 12  uint32   distance of its canonical address, or that it is not searched
 * 16  uint32   bytes of its links
 * 20  uint32   bytes of its sections
 * 24  these four
 * ```
 */
export class KeptPages implements Disposable {
  readonly #former: Generator<KeptRecord> | null;
  #next: KeptRecord | null = null;
  readonly #fd: number;
  #records: Uint8Array[] = [];
  #filled = 0;

  /** @param former that of the version before; null, or a file that is not there: all pages are read */
  constructor(file: string, former: string | null) {
    this.#fd = openSync(file, 'wx');
    this.#former = former === null ? null : recordsOf(former);
    this.#step();
  }

  /** What the version before has of a page that is the same in it; null: it is to be read. @param page after those asked for before */
  find(page: PageIdentity): KeptPage | null {
    while (this.#next !== null && this.#next.path < page.path) this.#step();
    return this.#next?.path === page.path && this.#next.key === keyOf(page) ? this.#next : null;
  }

  /** In the order of paths, as `add`. */
  keep({ bytes }: KeptPage): void {
    this.#push(bytes);
  }

  add(page: PageIdentity, summary: PageSummary | null): void {
    this.#push(bytesOf(page, summary));
  }

  /** All records are in the file. */
  finish(): void {
    this.#flush();
  }

  [Symbol.dispose](): void {
    this.#former?.return(undefined);
    closeSync(this.#fd);
  }

  #step(): void {
    const { value } = this.#former?.next() ?? { value: undefined };
    this.#next = (value as KeptRecord | undefined) ?? null;
  }

  #push(record: Uint8Array): void {
    this.#records.push(record);
    this.#filled += record.length;
    if (this.#filled >= BLOCK_BYTES || this.#records.length === RECORDS_AHEAD_MAX) this.#flush();
  }

  #flush(): void {
    const bytes = Buffer.concat(this.#records);
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#fd, bytes, done);
    this.#records = [];
    this.#filled = 0;
  }
}

function keyOf({ sha256, type, url, version }: PageIdentity): string {
  return JSON.stringify([EXTRACT_VERSION, sha256, type, url, version]);
}

/** Those that are whole, to the first that is none. */
function* recordsOf(file: string): Generator<KeptRecord> {
  const fd = openIfThere(file);
  if (fd === null) return;
  try {
    const { size } = fstatSync(fd);
    let block = Buffer.alloc(0);
    for (let start = 0; ; ) {
      let at = 0;
      let end = endOf(block, at);
      for (; end <= block.length; end = endOf(block, at)) {
        const record = recordIn(block.subarray(at, end));
        if (record === null) return;
        yield record;
        at = end;
      }
      if (start + end > size) return;
      start += at;
      // Another one: records wait to be written while the next bytes are read.
      const rest = block.subarray(at);
      const next = Buffer.allocUnsafeSlow(BLOCK_BYTES + 2 * rest.length);
      rest.copy(next);
      const bytesRead = readSync(fd, next, { offset: rest.length });
      if (bytesRead === 0) return;
      block = next.subarray(0, rest.length + bytesRead);
    }
  } finally {
    closeSync(fd);
  }
}

/** Of the record at `at`, or of its header, where that is not whole. */
function endOf(block: Buffer, at: number): number {
  if (block.length < at + HEADER_BYTES) return at + HEADER_BYTES;
  const { pathBytes, keyBytes, linkBytes, sectionBytes } = headerAt(block, at);
  return at + HEADER_BYTES + pathBytes + keyBytes + linkBytes + sectionBytes;
}

function headerAt(block: Buffer, at: number) {
  return {
    crc: block.readUInt32LE(at),
    pathBytes: block.readUInt32LE(at + 4),
    keyBytes: block.readUInt32LE(at + 8),
    distance: block.readUInt32LE(at + 12),
    linkBytes: block.readUInt32LE(at + 16),
    sectionBytes: block.readUInt32LE(at + 20),
  };
}

function recordIn(bytes: Buffer): KeptRecord | null {
  const { crc, pathBytes, keyBytes, distance, linkBytes } = headerAt(bytes, 0);
  if (crc32(bytes.subarray(NUMBER_BYTES)) !== crc) return null;
  const keyAt = HEADER_BYTES + pathBytes;
  const linksAt = keyAt + keyBytes;
  const sectionsAt = linksAt + linkBytes;
  const prints = { links: bytes.subarray(linksAt, sectionsAt), sections: bytes.subarray(sectionsAt) };
  return {
    path: bytes.toString('utf8', HEADER_BYTES, keyAt),
    key: bytes.toString('utf8', keyAt, linksAt),
    summary: distance === NOT_SEARCHED ? null : { distance, ...prints },
    bytes,
  };
}

function bytesOf(page: PageIdentity, summary: PageSummary | null): Buffer {
  const { links = new Uint8Array(), sections = new Uint8Array(), distance = NOT_SEARCHED } = summary ?? {};
  const [path, key] = [Buffer.from(page.path), Buffer.from(keyOf(page))];
  const header = Buffer.alloc(HEADER_BYTES);
  const numbers = [path.length, key.length, distance, links.length, sections.length];
  for (const [at, number] of numbers.entries()) header.writeUInt32LE(number, NUMBER_BYTES * (at + 1));
  const bytes = Buffer.concat([header, path, key, links, sections]);
  bytes.writeUInt32LE(crc32(bytes.subarray(NUMBER_BYTES)));
  return bytes;
}

function openIfThere(file: string): number | null {
  try {
    return openSync(file, 'r');
  } catch {
    return null;
  }
}
