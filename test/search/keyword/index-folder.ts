import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type IndexedSection, KeywordIndexWriter } from '../../../src/search/keyword/index-writer.ts';
import { KeywordIndex } from '../../../src/search/keyword/keyword-index.ts';
import type { Passage } from '../../../src/search/ports.ts';
import { newFolder } from '../../helpers/new-folder.ts';

/** Path of an index file in a new folder. */
export const indexPath = (): string => join(newFolder(), 'keyword.sqlite');

/** A section with only some fields. Without a page, it is the first section of a new page. */
export type Sketch = Partial<IndexedSection>;

/** @param passagesOf passages of a section by its number. Default: none */
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

/** Opens an index of these sections, numbered in their order. */
export function indexOf(sketches: readonly Sketch[]): KeywordIndex {
  const path = indexPath();
  writeIndex(path, sketches);
  const index = new KeywordIndex(path);
  onTestFinished(() => index.close());
  return index;
}

/** Numbers of the found sections, best first. */
export function found(
  index: KeywordIndex,
  query: string,
  options: Omit<Parameters<KeywordIndex['find']>[1], 'limit'> = {},
): number[] {
  return index.find(query, { limit: 10, ...options }).hits.map((hit) => hit.section);
}
