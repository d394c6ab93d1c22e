import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DocshelfError } from '../domain/errors.ts';
import type { Passage } from './section.ts';

/** What both legs need of every section without asking the index for each: its language, and where its passages are. */
export interface SectionFacts {
  readonly language: string | null;
  /** What is embedded, and what a result shows. */
  readonly passages: readonly Passage[];
}

const FILE = 'sections.json';

interface Stored {
  readonly languages: readonly (string | null)[];
  /** A section a row: the number of its language, then start and end of each passage. */
  readonly rows: readonly (readonly number[])[];
}

export async function writeSectionFacts(searchDir: string, facts: readonly SectionFacts[]): Promise<void> {
  const languages = [...new Set(facts.map(({ language }) => language))];
  const numberOf = new Map(languages.map((language, at) => [language, at]));
  const rows = facts.map(({ language, passages }) => [
    numberOf.get(language) ?? 0,
    ...passages.flatMap(({ start, end }) => [start, end]),
  ]);
  await writeFile(join(searchDir, FILE), JSON.stringify({ languages, rows } satisfies Stored), { flag: 'wx' });
}

/** @throws DocshelfError `index_damaged` where the file cannot be read, or is of another number of sections. */
export async function readSectionFacts(searchDir: string, sections: number): Promise<SectionFacts[]> {
  try {
    const { languages, rows } = JSON.parse(await readFile(join(searchDir, FILE), 'utf8')) as Stored;
    if (rows.length !== sections) throw new Error(`it is of ${rows.length} sections and not of ${sections}`);
    return rows.map(([language = 0, ...borders]) => ({
      language: languages[language] ?? null,
      passages: passagesOf(borders),
    }));
  } catch (error) {
    throw new DocshelfError('index_damaged', `Cannot read the search index's "${FILE}": ${(error as Error).message}`, {
      next: 'Nothing to do: the index is built anew.',
      cause: error,
    });
  }
}

function passagesOf(borders: readonly number[]): Passage[] {
  const passages: Passage[] = [];
  for (let at = 0; at + 1 < borders.length; at += 2) {
    passages.push({ start: borders[at] ?? 0, end: borders[at + 1] ?? 0 });
  }
  return passages;
}
