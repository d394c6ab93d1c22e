import type { PlainError } from '../domain/errors.ts';
import type { TrailingSlash } from '../domain/release.ts';

export interface Section {
  /**
   * Address of the section's heading, such as `/guides/start#install`, or of the nearest heading above with an anchor. Several
   * sections may have the same address.
   */
  readonly path: string;
  readonly title: string;
  readonly documentTitle?: string;
  readonly headings: readonly string[];
  /** Qualified names of the identifier that the section defines, such as `pkg.Client.fetch` for `fetch`. */
  readonly names?: readonly string[];
  /** Text of the section, including code, with a blank line between blocks. Never empty. */
  readonly text: string;
  /** Positions of the code blocks in the text. */
  readonly code?: readonly Passage[];
  /** True if the text only lists headings below this section, or links to other pages. */
  readonly isList?: true;
  readonly language: string | null;
  readonly version: string | null;
  readonly tags: readonly string[];
}

/** Part of a section to embed and to show in results: about 220 tokens, cut between paragraphs. */
export interface Passage {
  readonly start: number;
  readonly end: number;
}

/** All vectors have length 1, so that a dot product is the cosine. */
export interface Embedder {
  readonly digest: string;
  readonly dims: number;

  /** True if the model can read this language (BCP 47, null if unknown). docshelf finds other text only by keywords. */
  reads(language: string | null): boolean;

  embedQuery(text: string, signal?: AbortSignal): Promise<Float32Array>;

  embedPassages(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;

  /** Frees the weights of the model, which are outside the heap. */
  close?(): Promise<void>;
}

/** With `folder`, a worker loads the model. With `parent`, the worker sends texts to its parent, which has network access. */
export type ModelChoice =
  | { readonly kind: 'folder'; readonly folder: string }
  | { readonly kind: 'parent'; readonly digest: string; readonly dims: number };

export interface KnownModel {
  readonly digest: string;
  readonly load: () => Promise<Embedder>;
}

export interface IndexedRelease {
  readonly digest: string;
  /** Folder with `site/`, the file table, and `search/`. docshelf builds `search/`, and may rebuild `search/` later. */
  readonly releaseDir: string;
  readonly trailingSlash: TrailingSlash;
  /** Unpacked size of the release, which decides the order of builds. Default: an estimate from the file table. */
  readonly bytes?: number;
}

export interface EmbedProgress {
  readonly passages: number;
  readonly embedded: number;
}

export interface IndexFacts {
  readonly sections: number;
  /** Error that prevents the use of the bundle's vectors (`bad_search_data`). Null if there is no error. */
  readonly refused: PlainError | null;
  readonly leftOut: readonly string[];
  /** Time at which the index was built. Null if the index file cannot be read. */
  readonly builtAtMs: number | null;
}

export type ReportBuild = (phase: 'waiting to index' | 'indexing', page: string | null) => void;
