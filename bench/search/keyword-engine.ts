import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeywordIndexWriter } from '../../src/search/keyword/index-writer.ts';
import { KeywordIndex } from '../../src/search/keyword/keyword-index.ts';
import { RANKING, type Ranking } from '../../src/search/keyword/ranking.ts';
import type { Engine, Searcher } from './engine.ts';
import type { Document } from './test-set.ts';

/** docshelf's keyword search in this process, one page per document. */
export function keywordEngine(name: string, ranking: Ranking = RANKING, prefixLast = false): Engine {
  return {
    name,
    async index(documents) {
      const { path, remove } = buildIndex(documents);
      return openSearcher(path, remove, ranking, prefixLast);
    },
  };
}

/** Writes an index file into a temporary folder. */
export function buildIndex(documents: Iterable<Document>): { path: string; bytes: number; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'docshelf-bench-'));
  const path = join(folder, 'keyword.sqlite');
  const writer = new KeywordIndexWriter(path);
  for (const { id, title, text } of documents)
    writer.add({ page: id, path: id, title, headings: [], text, language: 'en', version: null, tags: [] });
  writer.finish();
  return { path, bytes: statSync(path).size, remove: () => rmSync(folder, { recursive: true }) };
}

/** @param remove called after closing */
export function openSearcher(
  path: string,
  remove: () => void,
  ranking: Ranking = RANKING,
  prefixLast = false,
): Searcher {
  const index = new KeywordIndex(path, ranking);
  return {
    search(query, limit) {
      // A question mark would end the last word.
      const typed = prefixLast ? query.replace(/[^\p{L}\p{N}]+$/u, '') : query;
      return index.find(typed, { limit, prefixLast }).hits.map((hit) => index.section(hit.section)?.path ?? '');
    },
    close() {
      index.close();
      remove();
    },
  };
}
