import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { DocshelfError } from '../../domain/errors.ts';
import { Numbers } from '../numbers.ts';
import type { Passage } from '../section.ts';

/**
 * What is in memory of an index beside its file: of each section its language and the borders of its passages, `sections.bin`.
 * Little-endian:
 *
 * ```
 *  0  "DSHF"                    magic
 *  4  uint32                    format version
 *  8  uint32                    sections
 * 12  uint32                    passages
 * 16  uint32                    bytes of the languages
 * 20  uint32                    CRC-32 of all that follows
 * 24  uint32 * sections         number of its language
 *  …  uint32 * (sections + 1)   first passage of each section, and the count of all at the end
 *  …  uint32 * 2 * passages     where each begins and ends
 *  …  JSON                      languages by their number, string or null
 * ```
 */
export class SectionFacts {
  readonly count: number;
  readonly #languages: readonly (string | null)[];
  readonly #languageOf: Uint32Array;
  /** First passage of each section, and the count of passages at the end. */
  readonly #firsts: Uint32Array;
  readonly #borders: Uint32Array;

  constructor(columns: Columns) {
    this.count = columns.languageOf.length;
    this.#languages = columns.languages;
    this.#languageOf = columns.languageOf;
    this.#firsts = columns.firsts;
    this.#borders = columns.borders;
  }

  get bytes(): number {
    return this.#languageOf.byteLength + this.#firsts.byteLength + this.#borders.byteLength;
  }

  language(section: number): string | null {
    return this.#languages[this.#languageOf[section] ?? 0] ?? null;
  }

  passages(section: number): Passage[] {
    const passages: Passage[] = [];
    for (let at = this.#firsts[section] ?? 0; at < (this.#firsts[section + 1] ?? 0); at += 1)
      passages.push({ start: this.#borders[2 * at] ?? 0, end: this.#borders[2 * at + 1] ?? 0 });
    return passages;
  }
}

interface Columns {
  readonly languages: readonly (string | null)[];
  readonly languageOf: Uint32Array;
  readonly firsts: Uint32Array;
  readonly borders: Uint32Array;
}

const FILE = 'sections.bin';
const MAGIC = 'DSHF';
const FORMAT_VERSION = 1;
const HEADER_BYTES = 24;
const NUMBER_BYTES = 4;

/** Takes them one after the other, in the order of the sections. */
export class SectionFactsWriter {
  readonly #numberOf = new Map<string | null, number>();
  readonly #languageOf = new Numbers();
  readonly #firsts = new Numbers();
  readonly #borders = new Numbers();

  get count(): number {
    return this.#languageOf.length;
  }

  add(language: string | null, passages: readonly Passage[]): void {
    const number = this.#numberOf.get(language) ?? this.#numberOf.size;
    this.#numberOf.set(language, number);
    this.#languageOf.push(number);
    this.#firsts.push(this.#borders.length / 2);
    for (const { start, end } of passages) {
      this.#borders.push(start);
      this.#borders.push(end);
    }
  }

  async write(searchDir: string): Promise<void> {
    const passages = this.#borders.length / 2;
    this.#firsts.push(passages);
    const languages = Buffer.from(JSON.stringify([...this.#numberOf.keys()]));
    const columns = [this.#languageOf, this.#firsts, this.#borders].map(({ view }) =>
      Buffer.from(view.buffer, 0, view.byteLength),
    );
    const parts = [...columns, languages];
    const header = Buffer.alloc(HEADER_BYTES);
    header.write(MAGIC, 'latin1');
    const numbers = [FORMAT_VERSION, this.count, passages, languages.length, crcOf(parts)];
    for (const [at, number] of numbers.entries()) header.writeUInt32LE(number, NUMBER_BYTES * (at + 1));
    await writeFile(
      join(searchDir, FILE),
      (function* () {
        yield header;
        yield* parts;
      })(),
      { flag: 'wx' },
    );
  }
}

const crcOf = (parts: readonly Uint8Array[]): number => parts.reduce((crc, part) => crc32(part, crc), 0);

/** @throws DocshelfError `index_damaged` where the file cannot be read, or has another count. */
export async function readSectionFacts(searchDir: string, sections: number): Promise<SectionFacts> {
  try {
    const bytes = await readFile(join(searchDir, FILE));
    const facts = new SectionFacts(columnsOf(bytes));
    if (facts.count !== sections) throw new Error(`it is of ${facts.count} sections and not of ${sections}`);
    return facts;
  } catch (error) {
    throw new DocshelfError('index_damaged', `Cannot read the search index's "${FILE}": ${(error as Error).message}`, {
      next: 'Nothing to do: the index is built anew.',
      cause: error,
    });
  }
}

function columnsOf(bytes: Buffer): Columns {
  const [version, count, passages, textBytes, crc] = [1, 2, 3, 4, 5].map((at) =>
    bytes.readUInt32LE(NUMBER_BYTES * at),
  ) as [number, number, number, number, number];
  if (bytes.toString('latin1', 0, 4) !== MAGIC || version !== FORMAT_VERSION) throw new Error('it has another format');
  const numbers = 2 * count + 1 + 2 * passages;
  const isWhole = bytes.length === HEADER_BYTES + NUMBER_BYTES * numbers + textBytes;
  if (!isWhole || crcOf([bytes.subarray(HEADER_BYTES)]) !== crc) throw new Error('it is not what was written');
  // In memory of its own, which numbers are read from in place.
  const columns = new Uint32Array(numbers);
  const end = HEADER_BYTES + columns.byteLength;
  new Uint8Array(columns.buffer).set(bytes.subarray(HEADER_BYTES, end));
  return {
    languages: JSON.parse(bytes.toString('utf8', end)) as (string | null)[],
    languageOf: columns.subarray(0, count),
    firsts: columns.subarray(count, 2 * count + 1),
    borders: columns.subarray(2 * count + 1),
  };
}
