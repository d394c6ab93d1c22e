import type { PlainError } from '../domain/errors.ts';
import type { FileEntry } from '../domain/release.ts';
import type { CallOutcome } from '../threads/call-outcome.ts';
import type { IndexFacts, IndexOrder } from './build-index.ts';
import type { EmbedProgress } from './ports.ts';
import type { SearchRequest } from './request.ts';

/** What goes between the search threads and the thread that spawns them. Plain data, both ways. */

/** What a thread is for, given to it at its start. */
export type SearchRole =
  /** Builds one index and ends. */
  | { readonly role: 'build'; readonly order: IndexOrder }
  /** Makes the vectors of one release and ends. */
  | { readonly role: 'embed'; readonly order: EmbedOrder }
  /** Makes the search data of one bundle and ends. */
  | { readonly role: 'bundle'; readonly order: BundleSearchOrder }
  /** Answers queries until it is ended. */
  | { readonly role: 'query' }
  /** Reads queries with the model of a folder, for the thread that answers them, until it is told to stop. */
  | { readonly role: 'model'; readonly folder: string };

/** A model in a folder, loaded by the thread itself; or `parent`: the thread that spawns embeds, because it has the way out. */
export type ModelChoice =
  | { readonly kind: 'folder'; readonly folder: string }
  | { readonly kind: 'parent'; readonly digest: string; readonly dims: number };

export interface EmbedOrder {
  readonly searchDir: string;
  /** The release's digest. */
  readonly release: string;
  /** The data folder's `vectors/`. */
  readonly cacheDir: string;
  readonly model: ModelChoice;
}

/** A site that a bundle is being made of. Plain data: it crosses a thread. */
export interface BundleSearchOrder {
  /** Holds the site's files, at their paths. */
  readonly siteDir: string;
  readonly files: readonly FileEntry[];
  /** An empty folder: receives the files of the bundle's `_docshelf/search/`. */
  readonly into: string;
  /** Where vectors are kept by the digest of their text, between exports. */
  readonly cacheDir: string;
  /** Makes the vectors; null: the bundle carries none. */
  readonly model: ModelChoice | null;
}

export interface BundleSearchFacts {
  readonly sections: number;
  /** How many passages have a vector. */
  readonly vectors: number;
}

/** Asked of the query thread. */
export type QueryCall =
  | { readonly kind: 'open'; readonly searchDir: string }
  | { readonly kind: 'close'; readonly searchDir: string }
  /** The release's vectors are there now, made by that model. */
  | { readonly kind: 'vectors'; readonly searchDir: string; readonly modelDigest: string; readonly model: ModelChoice }
  | { readonly kind: 'search'; readonly searchDir: string; readonly request: SearchRequest; readonly label: string };

/** To a thread. */
export type ToThread =
  /** End in order. A thread that is ended from outside in the middle of the model's native code takes the process with it. */
  | { readonly kind: 'stop' }
  | { readonly kind: 'call'; readonly id: number; readonly call: QueryCall }
  /** Of an `embed`: its vectors. */
  | CallOutcome;

/** From a thread. */
export type FromThread =
  | CallOutcome
  | { readonly kind: 'progress'; readonly progress: EmbedProgress }
  /** A thread whose model is the parent's asks it to embed. */
  | {
      readonly kind: 'embed';
      readonly id: number;
      readonly purpose: 'query' | 'passages';
      readonly texts: readonly string[];
    }
  | { readonly kind: 'done'; readonly result: IndexFacts | BundleSearchFacts | { readonly modelDigest: string } }
  | { readonly kind: 'failed'; readonly error: PlainError };

/** Asked of the thread that has the model. */
export type ModelCall =
  | { readonly kind: 'facts' }
  | { readonly kind: 'query'; readonly text: string }
  | { readonly kind: 'passages'; readonly texts: readonly string[] };

/** What is known of a model that another thread has. */
export interface ModelFacts {
  readonly digest: string;
  readonly dims: number;
  /** Scripts that it reads, by their codes in ISO 15924. */
  readonly scripts: ReadonlySet<string>;
}

export type ToModelThread =
  | { readonly kind: 'stop' }
  | { readonly kind: 'call'; readonly id: number; readonly call: ModelCall };
