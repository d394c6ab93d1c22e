import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { PageSummary } from './page-summary.ts';

/** Raise it with every change to what is read of a page. */
const EXTRACT_VERSION = 3;
const TAB = 0x09;
const NEW_LINE = 0x0a;
const CHUNK_BYTES = 256 * 1024;
const LINE_END = Buffer.from('\n');

export interface KeptPage {
  readonly json: Buffer;
  /** All of its line, to be written as it is. */
  readonly bytes: Buffer;
}

interface KeptLine extends KeptPage {
  readonly path: string;
  readonly key: string;
}

/** All that decides what is read of a page. */
interface PageIdentity {
  readonly sha256: string;
  /** Media type with its charset. */
  readonly type: string;
  readonly url: string;
  readonly version: string | null;
}

/**
 * What is known of the pages, `pages.jsonl`, so that the next version reads only those that have changed: a line a page, in the order
 * of their paths, of path, key, checksum and JSON, parted by tabs, which JSON has none of. Both versions are gone through once, side by side.
 */
export class KeptPages implements Disposable {
  readonly #former: Generator<KeptLine> | null;
  #next: KeptLine | null = null;
  readonly #fd: number;
  #lines: Buffer[] = [];
  #filled = 0;

  /** @param former that of the version before; null, or a file that is not there: all pages are read */
  constructor(file: string, former: string | null) {
    this.#fd = openSync(file, 'wx');
    this.#former = former === null ? null : linesOf(former);
    this.#step();
  }

  /** What the version before has of a page that is the same in it; null: it is to be read. @param path after those asked for before @param key of `pageKey` */
  find(path: string, key: string): KeptPage | null {
    while (this.#next !== null && this.#next.path < path) this.#step();
    return this.#next?.path === path && this.#next.key === key ? this.#next : null;
  }

  /** In the order of paths, as `add`. */
  keep({ json, bytes }: KeptPage): PageSummary | null {
    this.#addLine(bytes);
    return JSON.parse(json.toString());
  }

  add(path: string, key: string, page: PageSummary | null): void {
    this.#addLine(bytesOf(path, key, page));
  }

  /** All lines are in the file. */
  finish(): void {
    this.#flush();
  }

  [Symbol.dispose](): void {
    this.#former?.return(undefined);
    closeSync(this.#fd);
  }

  #step(): void {
    const { value } = this.#former?.next() ?? { value: undefined };
    this.#next = (value as KeptLine | undefined) ?? null;
  }

  #addLine(line: Buffer): void {
    this.#lines.push(line, LINE_END);
    this.#filled += line.length;
    if (this.#filled >= CHUNK_BYTES) this.#flush();
  }

  #flush(): void {
    const bytes = Buffer.concat(this.#lines);
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#fd, bytes, done);
    this.#lines = [];
    this.#filled = 0;
  }
}

/** The same of a page whose outcome is the same. */
export function pageKey({ sha256, type, url, version }: PageIdentity): string {
  return JSON.stringify([EXTRACT_VERSION, sha256, type, url, version]);
}

/** Those that are whole, to the first that is none. */
function* linesOf(file: string): Generator<KeptLine> {
  const fd = openIfThere(file);
  if (fd === null) return;
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    let open: Buffer[] = [];
    for (let bytesRead = readSync(fd, chunk); bytesRead > 0; bytesRead = readSync(fd, chunk)) {
      const read = chunk.subarray(0, bytesRead);
      let start = 0;
      for (let end = read.indexOf(NEW_LINE); end !== -1; end = read.indexOf(NEW_LINE, start)) {
        // A copy: it waits to be written while the next bytes are read.
        const line = lineOf(Buffer.concat([...open, read.subarray(start, end)]));
        open = [];
        start = end + 1;
        if (line === null) return;
        yield line;
      }
      if (start < bytesRead) open.push(Buffer.from(read.subarray(start)));
    }
  } finally {
    closeSync(fd);
  }
}

function bytesOf(path: string, key: string, page: PageSummary | null): Buffer {
  const json = JSON.stringify(page);
  return Buffer.from(`${path}\t${key}\t${crc32(json).toString(16)}\t${json}`);
}

function lineOf(bytes: Buffer): KeptLine | null {
  const afterPath = bytes.indexOf(TAB) + 1;
  const afterKey = bytes.indexOf(TAB, afterPath) + 1;
  const afterCrc = bytes.indexOf(TAB, afterKey) + 1;
  const json = bytes.subarray(afterCrc);
  if (crc32(json).toString(16) !== bytes.toString('latin1', afterKey, afterCrc - 1)) return null;
  return {
    path: bytes.toString('utf8', 0, afterPath - 1),
    key: bytes.toString('utf8', afterPath, afterKey - 1),
    json,
    bytes,
  };
}

function openIfThere(file: string): number | null {
  try {
    return openSync(file, 'r');
  } catch {
    return null;
  }
}
