import type { Document } from './test-set.ts';

/** A measured engine: it indexes documents, in this process or over HTTP. */
export interface Engine {
  readonly name: string;
  index(documents: readonly Document[]): Promise<Searcher>;
}

export interface Searcher {
  /** Returns ids of at most `limit` documents, best first. */
  search(query: string, limit: number): readonly string[] | Promise<readonly string[]>;
  close(): void | Promise<void>;
}
