import type { PlainError } from '../domain/errors.ts';
import type { TrailingSlash } from '../domain/release.ts';

export interface Section {
  /** Path for readers with the fragment of the nearest heading, such as `/guides/start#install`. Not unique. */
  readonly path: string;
  readonly title: string;
  readonly documentTitle?: string;
  readonly headings: readonly string[];
  /** Longer spellings of the last heading, such as `pkg.Client.fetch` for `fetch`, if that heading names a definition. */
  readonly names?: readonly string[];
  /** Text, including code, with a blank line between blocks. Never empty. */
  readonly text: string;
  readonly language: string | null;
  readonly version: string | null;
  readonly tags: readonly string[];
}

/** Part of a section that docshelf embeds and shows in results: about 220 tokens, cut between paragraphs. */
export interface Passage {
  readonly start: number;
  readonly end: number;
}

/** Embedding model. Its vectors have length 1, so that a dot product is the cosine. */
export interface Embedder {
  readonly digest: string;
  readonly dims: number;

  /**
   * True if the model is useful for this BCP 47 language, or for text without a language (null). docshelf finds other text only
   * by keywords.
   */
  reads(language: string | null): boolean;

  embedQuery(text: string, signal?: AbortSignal): Promise<Float32Array>;

  embedPassages(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;

  /** Frees the weights, which are outside the heap. */
  close?(): Promise<void>;
}

/**
 * With `folder`, the thread that embeds texts loads the model. With `parent`, this thread sends the texts to the parent thread,
 * because only the parent thread has network access.
 */
export type ModelChoice =
  | { readonly kind: 'folder'; readonly folder: string }
  | { readonly kind: 'parent'; readonly digest: string; readonly dims: number };

export interface KnownModel {
  readonly digest: string;
  readonly load: () => Promise<Embedder>;
}

export interface IndexedRelease {
  readonly digest: string;
  /** Folder of the release, with `site/`, the file table, and `search/`. docshelf creates `search/` and may replace it. */
  readonly releaseDir: string;
  readonly trailingSlash: TrailingSlash;
  /** Unpacked size, which decides the order of builds. Default: estimated by the file table. */
  readonly bytes?: number;
}

export interface EmbedProgress {
  readonly passages: number;
  readonly embedded: number;
}

export interface IndexFacts {
  readonly sections: number;
  /** Error that explains why the bundle's vectors are unused (`bad_search_data`), else null. */
  readonly refused: PlainError | null;
  readonly leftOut: readonly string[];
  /** Modification time of the index file. Null if the file cannot be read. */
  readonly builtAtMs: number | null;
}

export type ReportBuild = (phase: 'waiting to index' | 'indexing', page: string | null) => void;
