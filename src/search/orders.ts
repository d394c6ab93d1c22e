import type { FileEntry } from '../domain/release.ts';
import type { Embedder, EmbedProgress } from './ports.ts';

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
  /** Texts that may be embedded at once. */
  readonly lanesMax: number;
  /** Also where another process on the folder embeds the release. */
  readonly ignoresOthers: boolean;
}

/** Of a release's vectors by this model. */
export type EmbedProgressOf = EmbedProgress & { readonly modelDigest: string };

export interface BundleSearchOrder {
  readonly siteDir: string;
  readonly files: readonly FileEntry[];
  readonly into: string;
  readonly cacheDir: string;
  readonly model: ModelChoice;
  /** After this time the export gives up: the bundle has no vectors. */
  readonly vectorsWithinMs: number;
  /** Texts that are embedded at once. */
  readonly lanesMax: number;
}

export interface ModelFacts {
  readonly digest: string;
  readonly dims: number;
  /** Scripts that it reads (ISO 15924). */
  readonly scripts: ReadonlySet<string>;
}
