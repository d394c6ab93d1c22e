import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ARCHIVE_CODES } from '../../src/domain/errors.ts';
import { Workbench } from '../archive/workbench.ts';

const corpus = process.env.DOCSHELF_CORPUS;
const why = corpus === undefined ? ' (skipped: DOCSHELF_CORPUS does not say where the corpus is)' : '';

const bench = new Workbench();

describe.skipIf(corpus === undefined)(`a published hostile archive${why}`, () => {
  const folder = join(corpus ?? '.', 'hostile');
  const files = corpus === undefined ? [] : archivesBelow(folder);

  it('is available for the test', () => {
    expect(files.length).toBeGreaterThan(40);
  });

  it.each(files.map((file) => [relative(folder, file), file]))(
    'is rejected before docshelf writes any file: %s',
    async (_name, file) => {
      const { stage, error } = await bench.attempt(await readFile(file));
      expect(stage).toBe('inspected');
      expect(ARCHIVE_CODES).toContain(error?.code);
      expect(await bench.written()).toEqual([]);
    },
  );
});

function archivesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:tar|tar\.gz|tar\.zst|zip)$/.test(name))
    .map((name) => join(folder, name))
    .sort();
}
