import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Document {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

export interface Query {
  readonly query: string;
  /** Grade by document. Missing documents have grade 0. */
  readonly relevant: Readonly<Record<string, number>>;
}

export interface TestSet {
  readonly name: string;
  readonly documents: readonly Document[];
  readonly queries: readonly Query[];
}

const NAMES = ['anthropic-docs', 'codebase', 'cacm', 'stdlib-code'];

/** The four development sets, from `search/` in the folder of DOCSHELF_CORPUS. */
export function readTestSets(): TestSet[] {
  const corpus = process.env.DOCSHELF_CORPUS;
  if (corpus === undefined) throw new Error('DOCSHELF_CORPUS must name the folder that has search/<set>/docs.jsonl');
  return NAMES.map((name) => {
    const lines = (file: string) =>
      readFileSync(join(corpus, 'search', name, file), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    return { name, documents: lines('docs.jsonl'), queries: lines('queries.jsonl') };
  });
}
