import { DocshelfError } from '../../domain/errors.ts';

/**
 * Encodes the sections of an index term as LEB128 numbers, in ascending order. The entry of a section begins with twice the difference
 * between its number and the previous number (-1 for the first section), plus one if the term occurs only once in the section, in the
 * column `text`. Otherwise, the counts of the term in all `COLUMNS` follow.
 */
export class PostingsBuilder {
  readonly #bytes: number[] = [];
  readonly #counts = [0, 0, 0, 0];
  #section = -1;
  #before = -1;
  sections = 0;

  count(section: number, column: number): void {
    if (section !== this.#section) {
      this.#write();
      this.#section = section;
      this.sections += 1;
    }
    this.#counts[column] = (this.#counts[column] ?? 0) + 1;
  }

  bytes(): Uint8Array {
    this.#write();
    return Uint8Array.from(this.#bytes);
  }

  #write(): void {
    if (this.#section === this.#before) return;
    const counts = this.#counts;
    const isPlain = counts[0] === 0 && counts[1] === 0 && counts[2] === 1 && counts[3] === 0;
    pushNumber(this.#bytes, (this.#section - this.#before) * 2 + (isPlain ? 1 : 0));
    for (let column = 0; column < counts.length; column += 1) {
      if (!isPlain) pushNumber(this.#bytes, counts[column] ?? 0);
      counts[column] = 0;
    }
    this.#before = this.#section;
  }
}

function pushNumber(bytes: number[], number: number): void {
  let rest = number;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
}

export interface Postings {
  readonly sections: Uint32Array;
  readonly impacts: Float32Array;
}

export function readPostings(
  runs: readonly { sections: number; list: Uint8Array }[],
  count: number,
  impact: (section: number, title: number, headings: number, text: number, identifiers: number) => number,
): Postings {
  const total = runs.reduce((sum, run) => sum + run.sections, 0);
  const sections = new Uint32Array(Math.min(total, count));
  const impacts = new Float32Array(sections.length);
  let filled = 0;
  let last = -1;
  for (const { list } of runs) {
    const reader = new NumberReader(list);
    let section = -1;
    while (!reader.done()) {
      const head = reader.next();
      section += head >>> 1;
      const isPlain = (head & 1) === 1;
      const title = isPlain ? 0 : reader.next();
      const headings = isPlain ? 0 : reader.next();
      const text = isPlain ? 1 : reader.next();
      const identifiers = isPlain ? 0 : reader.next();
      if (section >= count || section <= last) throw damagedPostings();
      sections[filled] = section;
      impacts[filled] = impact(section, title, headings, text, identifiers);
      last = section;
      filled += 1;
    }
  }
  if (filled !== total) throw damagedPostings();
  return { sections, impacts };
}

class NumberReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  next(): number {
    let number = 0;
    for (let shift = 0; shift < 32; shift += 7) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) break;
      number |= (byte & 0x7f) << shift;
      if (byte < 0x80) return number >>> 0;
    }
    throw damagedPostings();
  }
}

function damagedPostings(): DocshelfError {
  return new DocshelfError('index_damaged', 'Cannot read the search index: the postings of a word are damaged');
}
