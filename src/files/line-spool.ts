import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';

const CHUNK_LENGTH = 256 * 1024;

/** Stores lines in a deleted file, which uses disk space until it is closed. All calls block the thread. */
export class LineSpool {
  readonly #fd: number;
  #waiting: string[] = [];
  #waitingLength = 0;
  #writtenBytes = 0;

  /** @param file unused path in an existing folder */
  constructor(file: string) {
    this.#fd = openSync(file, 'wx+', 0o600);
    rmSync(file);
  }

  /** @param line without line break or lone surrogate, such as JSON */
  add(line: string): void {
    this.#waiting.push(line);
    this.#waitingLength += line.length + 1;
    if (this.#waitingLength > CHUNK_LENGTH) this.#flush();
  }

  /** Iterates over all lines, starting with the first line on each call. Do not add lines before the iteration ends. */
  *lines(): Generator<string> {
    this.#flush();
    const decoder = new StringDecoder();
    let rest = '';
    for (let at = 0; at < this.#writtenBytes; ) {
      // Read at least as much as the rest of the last chunk, so that the time for a long line does not grow with its square.
      const chunk = Buffer.allocUnsafe(Math.max(CHUNK_LENGTH, rest.length));
      const bytesRead = readSync(this.#fd, chunk, 0, chunk.length, at);
      if (bytesRead === 0) throw new Error('a spool file is shorter than the bytes written to it');
      at += bytesRead;
      const lines = (rest + decoder.write(chunk.subarray(0, bytesRead))).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }

  #flush(): void {
    const bytes = Buffer.from(this.#waiting.map((line) => `${line}\n`).join(''));
    for (let done = 0; done < bytes.length; )
      done += writeSync(this.#fd, bytes, done, bytes.length - done, this.#writtenBytes + done);
    this.#writtenBytes += bytes.length;
    this.#waiting = [];
    this.#waitingLength = 0;
  }
}
