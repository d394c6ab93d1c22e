import type { TrailingSlash } from '../domain/release.ts';
import type { SearchAnswer, SearchRequest } from './request.ts';

export type { Search, SearchAnswer, SearchRequest, SearchResult } from './request.ts';

/** Texts to vectors, by a model in a folder or by an endpoint. All have length 1, so that a dot product is the cosine. */
export interface Embedder {
  /** Of the model, 64 hex digits: vectors of two embedders are comparable only where it is the same. */
  readonly digest: string;
  /** Numbers of a vector; a multiple of 32. */
  readonly dims: number;

  /** True where the model is of use in a language (BCP 47). Others go by keywords alone. */
  reads(language: string): boolean;

  /** @throws DocshelfError `embedder_failed` (endpoint), the signal's reason where that aborts. */
  embedQuery(text: string, signal?: AbortSignal): Promise<Float32Array>;

  /** In the order of the texts. @throws as `embedQuery` */
  embedPassages(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;

  /** Gives back what it holds outside the heap. */
  close?(): Promise<void>;
}

export interface IndexedRelease {
  readonly digest: string;
  /** Holds `site/`, `files.json`, and `search/`, which is derived and may be replaced. */
  readonly releaseDir: string;
  readonly trailingSlash: TrailingSlash;
}

export interface EmbedProgress {
  readonly passages: number;
  readonly embedded: number;
}

/** Search indexes of releases. Several may be open: one takes over from another between two queries. */
export interface SearchIndex {
  /** Builds a release's keyword index, in place of one that is there; a fault of a page's text is none of it. @throws the signal's reason */
  build(release: IndexedRelease, signal: AbortSignal): Promise<{ readonly sections: number }>;

  /** Opens a release for queries. @throws DocshelfError `index_damaged` where there is no sound index of this version. */
  open(release: IndexedRelease): Promise<{ readonly sections: number }>;

  /**
   * Makes the missing vectors, at low priority, and lets queries use them. Interrupted, it goes on from where it was.
   * @throws DocshelfError `model_invalid`, `embedder_failed`; the signal's reason
   */
  embed(release: IndexedRelease, onProgress: (progress: EmbedProgress) => void, signal: AbortSignal): Promise<void>;

  /**
   * The results, best first, of an open release.
   * @param label the release's version: what `filter.version` names where a page says no version of itself
   * @throws DocshelfError `index_damaged`, `queue_full`.
   */
  search(release: IndexedRelease, request: SearchRequest, label: string): Promise<SearchAnswer>;

  /** Queries under way may fail with `index_damaged`. */
  close(release: IndexedRelease): Promise<void>;

  /** Ends all that is under way with `stopping`; nothing keeps the process alive. */
  stop(): Promise<void>;
}
