import type { TrailingSlash } from '../domain/release.ts';
import type { SearchAnswer, SearchRequest } from './request.ts';

export type { Search, SearchAnswer, SearchRequest, SearchResult } from './request.ts';

/**
 * Turns texts into vectors: a model of ours in a folder, or an embeddings endpoint. All vectors have length 1, so
 * that a dot product is the cosine.
 */
export interface Embedder {
  /** Names the model: vectors of two embedders are comparable only where this is the same. 64 hex digits. */
  readonly digest: string;
  /** Numbers of a vector; a multiple of 32. */
  readonly dims: number;

  /** True where the model is of use in a language (a BCP 47 tag). Other languages go by keywords alone. */
  reads(language: string): boolean;

  /** @throws DocshelfError `embedder_failed` (endpoint), the signal's reason where that aborts. */
  embedQuery(text: string, signal?: AbortSignal): Promise<Float32Array>;

  /** Vectors in the order of the texts. Throws as `embedQuery`. */
  embedPassages(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;

  /** Gives back what it holds outside the heap, where it holds anything there. */
  close?(): Promise<void>;
}

/** A release as search needs it. Plain data. */
export interface IndexedRelease {
  readonly digest: string;
  /** Its folder: `site/`, `files.json`, and `search/`, which is derived and may be replaced. */
  readonly releaseDir: string;
  readonly trailingSlash: TrailingSlash;
}

export interface EmbedProgress {
  readonly passages: number;
  /** How many of them have their vector, those that were in the cache included. */
  readonly embedded: number;
}

/**
 * Holds the search indexes of releases and answers queries out of them. Several releases may be open, because one takes over
 * from another between two queries.
 */
export interface SearchIndex {
  /**
   * Builds a release's keyword index, in place of one that is there.
   *
   * @throws the signal's reason where that aborts; any fault of a page's text is no reason to fail.
   */
  build(release: IndexedRelease, signal: AbortSignal): Promise<{ readonly sections: number }>;

  /** Opens a release for queries. @throws DocshelfError `index_damaged` where there is no sound index of this version. */
  open(release: IndexedRelease): Promise<{ readonly sections: number }>;

  /**
   * Makes the vectors that are missing, at low priority, and lets queries use them. Interrupted, it goes on from where it was.
   *
   * @throws DocshelfError `model_invalid`, `embedder_failed`; the signal's reason where that aborts.
   */
  embed(release: IndexedRelease, onProgress: (progress: EmbedProgress) => void, signal: AbortSignal): Promise<void>;

  /**
   * The results, best first, of a release that is open.
   *
   * @param label the release's version: what `filter.version` names where a page says no version of itself
   * @throws DocshelfError `index_damaged`, `queue_full`.
   */
  search(release: IndexedRelease, request: SearchRequest, label: string): Promise<SearchAnswer>;

  /** Closes a release. Queries under way may fail with `index_damaged`. */
  close(release: IndexedRelease): Promise<void>;

  /** Ends all that is under way with `stopping`, and leaves nothing that keeps the process alive. */
  stop(): Promise<void>;
}
