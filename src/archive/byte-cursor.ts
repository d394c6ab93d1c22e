/** Takes exact counts of bytes from a stream, however it is chunked. */
export class ByteCursor {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The next `count` bytes; fewer only at the end. */
  async take(count: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let missing = count;
    while (missing > 0) {
      const part = await this.#some(missing);
      if (part === null) break;
      parts.push(part);
      missing -= part.length;
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  }

  /** Lets `count` bytes pass. Returns how many there were. */
  async skip(count: number): Promise<number> {
    let skipped = 0;
    while (skipped < count) {
      const part = await this.#some(count - skipped);
      if (part === null) break;
      skipped += part.length;
    }
    return skipped;
  }

  async #some(max: number): Promise<Buffer | null> {
    while (this.#rest.length === 0) {
      const next = await this.#chunks.next();
      if (next.done) return null;
      this.#rest = next.value;
    }
    const part = this.#rest.subarray(0, max);
    this.#rest = this.#rest.subarray(part.length);
    return part;
  }
}
