import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DocshelfError } from '../../domain/errors.ts';
import type { Passage } from '../section.ts';

export interface SectionFact {
  readonly language: string | null;
  readonly passages: readonly Passage[];
}

/** By section number, in 20 bytes where an object takes 300. */
export class SectionFacts {
  readonly count: number;
  readonly #languages: readonly (string | null)[];
  readonly #languageOf: Uint16Array;
  /** First passage of each section, and the count of passages at the end. */
  readonly #firsts: Uint32Array;
  readonly #borders: Uint32Array;

  constructor({ languages, rows }: Stored) {
    this.count = rows.length;
    this.#languages = languages;
    this.#languageOf = Uint16Array.from(rows, ([language = 0]) => language);
    this.#firsts = new Uint32Array(rows.length + 1);
    for (const [section, row] of rows.entries())
      this.#firsts[section + 1] = (this.#firsts[section] ?? 0) + Math.floor((row.length - 1) / 2);
    this.#borders = new Uint32Array(2 * (this.#firsts[rows.length] ?? 0));
    for (const [section, [, ...borders]] of rows.entries())
      this.#borders.set(borders, 2 * (this.#firsts[section] ?? 0));
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

const FILE = 'sections.json';

interface Stored {
  readonly languages: readonly (string | null)[];
  /** A row a section: the number of its language, then start and end of each passage. */
  readonly rows: readonly (readonly number[])[];
}

export async function writeSectionFacts(searchDir: string, facts: readonly SectionFact[]): Promise<void> {
  const languages = [...new Set(facts.map(({ language }) => language))];
  const numberOf = new Map(languages.map((language, at) => [language, at]));
  const rows = facts.map(({ language, passages }) => [
    numberOf.get(language) ?? 0,
    ...passages.flatMap(({ start, end }) => [start, end]),
  ]);
  await writeFile(join(searchDir, FILE), JSON.stringify({ languages, rows } satisfies Stored), { flag: 'wx' });
}

/** @throws DocshelfError `index_damaged` where the file cannot be read, or has another count. */
export async function readSectionFacts(searchDir: string, sections: number): Promise<SectionFacts> {
  try {
    const { languages, rows } = JSON.parse(await readFile(join(searchDir, FILE), 'utf8')) as Stored;
    if (rows.length !== sections) throw new Error(`it is of ${rows.length} sections and not of ${sections}`);
    return new SectionFacts({ languages, rows });
  } catch (error) {
    throw new DocshelfError('index_damaged', `Cannot read the search index's "${FILE}": ${(error as Error).message}`, {
      next: 'Nothing to do: the index is built anew.',
      cause: error,
    });
  }
}
