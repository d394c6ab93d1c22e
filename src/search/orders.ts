import type { FileEntry } from '../domain/release.ts';

/** Orders of the search threads, and their answers. Plain data. */

/** Loaded by the thread itself; or `parent`: the thread that spawns embeds, because it has the way out. */
export type ModelChoice =
  | { readonly kind: 'folder'; readonly folder: string }
  | { readonly kind: 'parent'; readonly digest: string; readonly dims: number };

export interface EmbedOrder {
  readonly searchDir: string;
  readonly release: string;
  /** The data folder's `vectors/`. */
  readonly cacheDir: string;
  readonly model: ModelChoice;
}

/** A site that a bundle is being made of. */
export interface BundleSearchOrder {
  readonly siteDir: string;
  readonly files: readonly FileEntry[];
  /** An empty folder, for the files of the bundle's `_docshelf/search/`. */
  readonly into: string;
  /** Where vectors are kept by the digest of their text, between exports. */
  readonly cacheDir: string;
  /** Null: the bundle carries no vectors. */
  readonly model: ModelChoice | null;
}

export interface BundleSearchFacts {
  readonly sections: number;
  readonly vectors: number;
}

export interface ModelFacts {
  readonly digest: string;
  readonly dims: number;
  /** Scripts that it reads, by their codes in ISO 15924. */
  readonly scripts: ReadonlySet<string>;
}
