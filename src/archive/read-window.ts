import type { ArchiveFile } from './archive-file.ts';

/** Bytes read ahead: zip headers lie close to each other, and one system call each would dominate. */
const WINDOW_BYTES = 128 * 1024;

/** Random reads of an archive through one buffer; made for positions that mostly rise. */
export class ReadWindow {
  readonly #archive: ArchiveFile;
  #start = 0;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(archive: ArchiveFile) {
    this.#archive = archive;
  }

  /** `count` bytes at `position`; fewer only at the archive's end. Valid after the next call too. */
  async read(position: number, count: number): Promise<Buffer> {
    const isInside = position >= this.#start && position + count <= this.#start + this.#bytes.length;
    if (!isInside) {
      this.#bytes = await this.#archive.read(position, Math.max(count, WINDOW_BYTES));
      this.#start = position;
    }
    const from = position - this.#start;
    return this.#bytes.subarray(from, from + count);
  }
}
