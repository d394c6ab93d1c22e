import { DatabaseSync } from 'node:sqlite';
import { isStopWord } from '../../src/search/keyword/english.ts';
import type { Engine, Searcher } from './engine.ts';
import type { Document } from './test-set.ts';

/**
 * Other engines with their defaults, and titles with double weight if possible. They are installed only in this folder, so the
 * project's type check lacks their types: this file declares the used parts.
 */
export const PEERS: readonly Engine[] = [
  { name: 'SQLite FTS5 (porter, no stop words)', index: async (documents) => indexFts5(documents) },
  { name: 'lunr', index: indexLunr },
  { name: 'MiniSearch', index: (documents) => indexMiniSearch(documents, {}) },
  {
    name: 'MiniSearch, prefix and fuzzy',
    index: (documents) => indexMiniSearch(documents, { prefix: true, fuzzy: 0.2 }),
  },
  { name: 'FlexSearch', index: indexFlexSearch },
  { name: 'Orama', index: indexOrama },
];

/** FTS5 in its usual form: words except stop words (the same as ours) joined by OR, ranked by bm25(). */
export function indexFts5(documents: Iterable<Document>): Searcher {
  const database = new DatabaseSync('');
  database.exec("CREATE VIRTUAL TABLE t USING fts5(id UNINDEXED, title, text, tokenize = 'porter unicode61'); BEGIN;");
  const insert = database.prepare('INSERT INTO t VALUES (?, ?, ?)');
  for (const { id, title, text } of documents) insert.run(id, title, text);
  database.exec('COMMIT');
  const select = database.prepare('SELECT id FROM t WHERE t MATCH ? ORDER BY bm25(t, 0, 2, 1) LIMIT ?');
  return {
    search(query, limit) {
      const typed = wordsOf(query);
      const telling = typed.filter((word) => !isStopWord(word.toLowerCase(), word));
      const words = telling.length > 0 ? telling : typed;
      if (words.length === 0) return [];
      return select.all(words.map((word) => `"${word}"`).join(' OR '), limit).map(({ id }) => String(id));
    },
    close: () => database.close(),
  };
}

type Lunr = (build: (this: LunrBuilder) => void) => { search(query: string): { ref: string }[] };
interface LunrBuilder {
  ref(field: string): void;
  field(name: string, options?: { boost: number }): void;
  add(document: Document): void;
}
async function indexLunr(documents: readonly Document[]): Promise<Searcher> {
  const { default: lunr } = await load<{ default: Lunr }>('lunr');
  const index = lunr(function () {
    this.ref('id');
    this.field('title', { boost: 2 });
    this.field('text');
    for (const document of documents) this.add(document);
  });
  return {
    // Only words, because colons and plus signs are syntax.
    search: (query, limit) =>
      index
        .search(wordsOf(query).join(' '))
        .slice(0, limit)
        .map(({ ref }) => ref),
    close: () => {},
  };
}

interface MiniSearchClass {
  new (
    options: object,
  ): {
    addAll(documents: readonly Document[]): void;
    search(query: string, options: object): { id: string }[];
  };
}

async function indexMiniSearch(documents: readonly Document[], options: object): Promise<Searcher> {
  const { default: MiniSearch } = await load<{ default: MiniSearchClass }>('minisearch');
  const index = new MiniSearch({ fields: ['title', 'text'] });
  index.addAll(documents);
  return {
    search: (query, limit) =>
      index
        .search(query, { boost: { title: 2 }, ...options })
        .slice(0, limit)
        .map(({ id }) => id),
    close: () => {},
  };
}

interface FlexSearchModule {
  readonly Index: new () => {
    add(id: number, text: string): void;
    search(query: string, options: object): number[];
  };
}

/** Title and text as one field, which was better than two fields (.402 against .297). */
async function indexFlexSearch(documents: readonly Document[]): Promise<Searcher> {
  const { default: FlexSearch } = await load<{ default: FlexSearchModule }>('flexsearch');
  const index = new FlexSearch.Index();
  for (const [at, { title, text }] of documents.entries()) index.add(at, `${title} ${text}`);
  return {
    // By default all words are required, which few questions meet. `suggest` returns the best partial hits.
    search: (query, limit) => index.search(query, { limit, suggest: true }).map((at) => documents[at]?.id ?? ''),
    close: () => {},
  };
}

interface Orama {
  create(options: object): object;
  insertMultiple(database: object, documents: readonly object[]): Promise<unknown>;
  search(database: object, options: object): Promise<{ hits: { document: { key: string } }[] }>;
}

async function indexOrama(documents: readonly Document[]): Promise<Searcher> {
  const orama = await load<Orama>('@orama/orama');
  const database = orama.create({ schema: { key: 'enum', title: 'string', text: 'string' } });
  await orama.insertMultiple(
    database,
    documents.map(({ id, title, text }) => ({ key: id, title, text })),
  );
  return {
    async search(query, limit) {
      const { hits } = await orama.search(database, { term: query, limit, boost: { title: 2 } });
      return hits.map(({ document }) => document.key);
    },
    close: () => {},
  };
}

function wordsOf(query: string): string[] {
  return query.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** @throws Error if the engines are not installed: run `npm ci` in this folder */
async function load<Module>(name: string): Promise<Module> {
  return (await import(name)) as Module;
}
