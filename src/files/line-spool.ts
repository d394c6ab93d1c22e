import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';

const NEW_LINE = 0x0a;
const CHUNK_BYTES = 256 * 1024;

/** Stores lines in a deleted file, which uses disk space until it is closed. All calls block the thread. */
export class LineSpool {
  readonly #fd: number;
  readonly #chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  #filled = 0;
  #writtenBytes = 0;

  /** @param file unused path in an existing folder */
  constructor(file: string) {
    this.#fd = openSync(file, 'wx+', 0o600);
    rmSync(file);
  }

  get bytes(): number {
    return this.#writtenBytes + this.#filled;
  }

  /** @param line without line break or lone surrogate, such as JSON */
  add(line: string): void {
    const size = Buffer.byteLength(line) + 1;
    if (size > CHUNK_BYTES - this.#filled) this.#flush();
    if (size > CHUNK_BYTES) {
      this.#write(Buffer.from(`${line}\n`));
      return;
    }
    this.#filled += this.#chunk.write(line, this.#filled);
    this.#chunk[this.#filled] = NEW_LINE;
    this.#filled += 1;
  }

  /** Iterates over all lines, starting with the first line on each call. Do not add lines before the iteration ends. */
  *lines(): Generator<string> {
    this.#flush();
    let chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let filled = 0;
    for (let at = 0; at < this.#writtenBytes; ) {
      const bytesRead = readSync(this.#fd, chunk, filled, chunk.length - filled, at);
      if (bytesRead === 0) throw new Error('a spool file is shorter than the bytes written to it');
      at += bytesRead;
      filled += bytesRead;
      let start = 0;
      const read = chunk.subarray(0, filled);
      for (let end = read.indexOf(NEW_LINE); end !== -1; end = read.indexOf(NEW_LINE, start)) {
        yield read.toString('utf8', start, end);
        start = end + 1;
      }
      chunk.copy(chunk, 0, start, filled);
      filled -= start;
      if (filled === chunk.length) chunk = Buffer.concat([chunk], 2 * filled);
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }

  #flush(): void {
    this.#write(this.#chunk.subarray(0, this.#filled));
    this.#filled = 0;
  }

  #write(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; )
      done += writeSync(this.#fd, bytes, done, bytes.length - done, this.#writtenBytes + done);
    this.#writtenBytes += bytes.length;
  }
}
