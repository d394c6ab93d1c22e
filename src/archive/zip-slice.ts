import { Readable } from 'node:stream';
import type { ArchiveFile } from './archive-file.ts';
import type { ZipEntry } from './zip-central.ts';
import { END_BYTES, endRecordOf } from './zip-end.ts';

/** Where unzipper is told that the directory and the end record are: it asks for both without a length. */
const DIRECTORY_AT = 0;
const END_AT = 1;

/**
 * A run of a zip's entries, shown to unzipper as a zip of its own: an end record that we write, then the true central
 * headers of the run, then the archive's bytes. So unzipper believes no count of the archive's, and keeps few entries.
 *
 * It does not listen for errors of the streams that it reads from: a failed read ends the stream, which it does
 * report, and `throwReadError` tells the true fault.
 */
export class ZipSlice {
  readonly entries: readonly ZipEntry[];
  readonly #archive: ArchiveFile;
  readonly #signal: AbortSignal | undefined;
  readonly #streams = new Set<Readable>();
  #readError: { readonly error: unknown } | null = null;

  /** @param entries consecutive in the directory */
  constructor(archive: ArchiveFile, entries: readonly ZipEntry[], signal: AbortSignal | undefined) {
    this.#archive = archive;
    this.entries = entries;
    this.#signal = signal;
  }

  readonly size = async (): Promise<number> => END_AT + END_BYTES;

  readonly stream = (offset: number, length?: number): Readable => {
    const stream = Readable.from(length === undefined ? this.#records(offset) : this.#bytes(offset, offset + length));
    this.#streams.add(stream);
    stream.once('close', () => this.#streams.delete(stream));
    return stream;
  };

  throwReadError(): void {
    if (this.#readError !== null) throw this.#readError.error;
  }

  close(): void {
    for (const stream of this.#streams) stream.destroy();
  }

  async *#records(offset: number): AsyncGenerator<Buffer> {
    const [start, end] = [this.entries.at(0)?.centralStart ?? 0, this.entries.at(-1)?.centralEnd ?? 0];
    if (offset === END_AT) {
      // Its length in bytes is never read by unzipper, and may not fit.
      yield endRecordOf({ entries: this.entries.length, bytes: 0, start: DIRECTORY_AT });
    } else {
      yield* this.#bytes(start, end);
    }
  }

  async *#bytes(start: number, end: number): AsyncGenerator<Buffer> {
    try {
      yield* this.#archive.chunks({ signal: this.#signal }, start, Math.min(end, this.#archive.bytes));
    } catch (error) {
      this.#readError = { error };
    }
  }
}
