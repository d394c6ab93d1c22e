import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type IndexedSection, KeywordIndexWriter } from '../../../src/search/keyword/index-writer.ts';
import { KeywordIndex } from '../../../src/search/keyword/keyword-index.ts';
import type { Passage } from '../../../src/search/ports.ts';

/** A path for an index file, in a folder that goes with the test. */
export function indexPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'docshelf-keyword-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'keyword.sqlite');
}

/** A section of which only some fields matter. Without a page, it is the own section of a page of its own. */
export type Sketch = Partial<IndexedSection>;

/** @param passagesOf passages of a section by its place. Default: none */
export function writeIndex(
  path: string,
  sketches: readonly Sketch[],
  passagesOf: (at: number) => readonly Passage[] = () => [],
): void {
  using writer = new KeywordIndexWriter(path);
  for (const [at, sketch] of sketches.entries()) {
    const page = `/p${at}`;
    const none = { title: '', headings: [], text: '', language: 'en', version: null, tags: [] };
    writer.add({ page, path: sketch.page ?? page, ...none, ...sketch }, passagesOf(at));
  }
  writer.finish();
}

/** An open index of these sections, numbered as they stand. */
export function indexOf(sketches: readonly Sketch[]): KeywordIndex {
  const path = indexPath();
  writeIndex(path, sketches);
  const index = KeywordIndex.open(path);
  onTestFinished(() => index.close());
  return index;
}

/** The numbers of the sections found, best first. */
export function found(
  index: KeywordIndex,
  query: string,
  options: Omit<Parameters<KeywordIndex['search']>[1], 'limit'> = {},
): number[] {
  return index.search(query, { limit: 10, ...options }).map((hit) => hit.section);
}
