import type { PlainError } from '../domain/errors.ts';
import type { TrailingSlash } from '../domain/release.ts';
import type { ResultForm, SearchAnswer, SearchRequest } from './request.ts';

/** Texts to vectors, by a model in a folder or by an endpoint. All have length 1, so that a dot product is the cosine. */
export interface Embedder {
  /** Of the model, 64 hex digits: vectors are comparable only where it is the same. */
  readonly digest: string;
  /** A multiple of 32. */
  readonly dims: number;

  /** True where the model is of use in a language (BCP 47); others go by keywords alone. */
  reads(language: string): boolean;

  /** @throws DocshelfError `embedder_failed` (endpoint); the signal's reason */
  embedQuery(text: string, signal?: AbortSignal): Promise<Float32Array>;

  embedPassages(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;

  /** Frees the weights, which are outside the heap and do not go with the thread. */
  close?(): Promise<void>;
}

export interface IndexedRelease {
  readonly digest: string;
  /** Holds `site/`, its file table, and `search/`, which is derived and may be replaced. */
  readonly releaseDir: string;
  readonly trailingSlash: TrailingSlash;
  /** Of its files, unpacked: the smaller of two releases is indexed first. Default: by the size of its file table. */
  readonly bytes?: number;
}

export interface EmbedProgress {
  readonly passages: number;
  readonly embedded: number;
}

export interface IndexFacts {
  readonly sections: number;
  /** Why the vectors of the bundle are not used (`bad_search_data`). Null if they are usable, or there are none. */
  readonly refused: PlainError | null;
  /** Paths of pages that it does not have: to read them took more memory or time than there is. */
  readonly leftOut: readonly string[];
}

/** For the status: what a build does now, and the large page that it reads. */
export type TellBuild = (phase: 'waiting to index' | 'indexing', page: string | null) => void;

/** Indexes as one site uses them. After the end of the engine behind it every call throws `stopping`. */
export interface SearchIndex {
  /**
   * Replaces an index that is there, unless another process on the folder does; a fault of a page's text is no failure.
   * @throws the signal's reason
   */
  build(release: IndexedRelease, signal: AbortSignal, tell?: TellBuild): Promise<IndexFacts>;

  /**
   * Reads the index through; again where it is open already, since whoever asks for that doubts it.
   * @param isAsked readers are asking the site: the next query finds it in memory. Default false
   * @throws DocshelfError `index_damaged` where there is no sound index of this version
   */
  open(release: IndexedRelease, isAsked?: boolean): Promise<IndexFacts>;

  /**
   * Makes the missing vectors, at low priority, and lets queries use each from soon after. Interrupted, it goes on from where it was.
   * @throws DocshelfError `model_invalid`, `embedder_failed`; the signal's reason
   */
  embed(release: IndexedRelease, onProgress: (progress: EmbedProgress) => void, signal: AbortSignal): Promise<void>;

  /**
   * Best first.
   * @param label the release's version: what `filter.version` names where a page says no version of itself
   * @throws DocshelfError `index_damaged`, `queue_full`
   */
  search(release: IndexedRelease, request: SearchRequest, label: string, form?: ResultForm): Promise<SearchAnswer>;

  /** For this site: others may have it open as well. Queries under way may fail with `index_damaged`. */
  close(release: IndexedRelease): Promise<void>;
}
