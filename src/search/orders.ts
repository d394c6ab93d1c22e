import type { FileEntry } from '../domain/release.ts';
import type { Embedder } from './ports.ts';

/** Loaded by the thread itself; or `parent`: the thread that spawns embeds, because it has the way out. */
export type ModelChoice =
  | { readonly kind: 'folder'; readonly folder: string }
  | { readonly kind: 'parent'; readonly digest: string; readonly dims: number };

/** Before it is loaded. */
export interface KnownModel {
  readonly digest: string;
  readonly load: () => Promise<Embedder>;
}

export interface EmbedOrder {
  readonly searchDir: string;
  readonly release: string;
  readonly cacheDir: string;
  readonly model: ModelChoice;
}

export interface BundleSearchOrder {
  readonly siteDir: string;
  readonly files: readonly FileEntry[];
  readonly into: string;
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
  /** Scripts that it reads (ISO 15924). */
  readonly scripts: ReadonlySet<string>;
}
