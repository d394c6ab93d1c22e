import type { PlainError } from '../domain/errors.ts';
import type { TrailingSlash } from '../domain/release.ts';

/** The unit of search: one heading and the text under it (contract section 1). */
export interface Section {
  /** As readers see it, with the nearest heading's `#fragment`: `/guides/start#install`. Not unique. */
  readonly path: string;
  /** Without the site's name. */
  readonly title: string;
  /** Only for a page's first section: its `<title>` without the site's name, if that differs from `title`. */
  readonly documentTitle?: string;
  /** From the page's first heading down to the section's own. Empty for text before any heading. */
  readonly headings: readonly string[];
  /** Code included, blocks parted by a blank line. Never empty: else it says what is below. */
  readonly text: string;
  /** BCP 47. Null if the page names none. */
  readonly language: string | null;
  readonly version: string | null;
  readonly tags: readonly string[];
}

/** The part of a section that is embedded and shown: about 220 tokens, cut at paragraph borders. */
export interface Passage {
  /** In UTF-16 code units. */
  readonly start: number;
  readonly end: number;
}

/** Texts to vectors, by a model in a folder or by an endpoint. All have length 1, so that a dot product is the cosine. */
export interface Embedder {
  /** Digest of the model, 64 hex digits. Vectors are comparable only if it is the same. */
  readonly digest: string;
  /** A multiple of 32. */
  readonly dims: number;

  /** True if the model is useful in a language (BCP 47). Other languages are searched by keywords alone. */
  reads(language: string): boolean;

  /** @throws DocshelfError `embedder_failed` (endpoint); the signal's reason */
  embedQuery(text: string, signal?: AbortSignal): Promise<Float32Array>;

  embedPassages(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;

  /** Frees the weights, which are outside the heap and do not go with the thread. */
  close?(): Promise<void>;
}

/** `folder`: the thread loads the model itself. `parent`: the parent thread embeds, because only it has network access. */
export type ModelChoice =
  | { readonly kind: 'folder'; readonly folder: string }
  | { readonly kind: 'parent'; readonly digest: string; readonly dims: number };

/** A model before it is loaded. */
export interface KnownModel {
  readonly digest: string;
  readonly load: () => Promise<Embedder>;
}

export interface IndexedRelease {
  readonly digest: string;
  /** Holds `site/`, its file table, and `search/`, which is derived and may be replaced. */
  readonly releaseDir: string;
  readonly trailingSlash: TrailingSlash;
  /** Size of its files, unpacked: the smaller of two releases is indexed first. Default: by the size of its file table. */
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
  /** Paths of pages that are missing from the index: reading them took too much memory or time. */
  readonly leftOut: readonly string[];
}

/** Reports to the status the phase of a build, and the large page that it reads. */
export type ReportBuild = (phase: 'waiting to index' | 'indexing', page: string | null) => void;
