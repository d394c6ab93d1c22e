import type { Document } from './test-set.ts';

/** What is measured: something that indexes documents, in this process or behind HTTP. */
export interface Engine {
  readonly name: string;
  index(documents: readonly Document[]): Promise<Searcher>;
}

export interface Searcher {
  /** The ids of at most `limit` documents, best first. */
  search(query: string, limit: number): readonly string[] | Promise<readonly string[]>;
  close(): void | Promise<void>;
}
