import type { StoredFile } from '../../files/file-store.ts';
import type { FoundKind, SourceType } from '../../web/rewrite/index.ts';
import type { FetchedContent } from '../ask/fetched-url.ts';
import type { PackFolders } from '../kept/content-packs.ts';

export interface PageThreadData {
  readonly filesDir: string;
  readonly foundDir: string;
  readonly packFolders: PackFolders;
  readonly attempt: string;
  readonly thread: number;
  /** Small pages are given back to be stored: the caller of a single thread has time for it. */
  readonly givesPages: boolean;
}

/** `length` 0: in the memory of the thread; else in its file. */
export interface FoundPlace {
  readonly thread: number;
  readonly offset: number;
  readonly length: number;
}

export interface ReadOrder {
  readonly url: string;
  readonly type: SourceType;
  readonly charset: string | null;
  /** Bytes are packed; content is kept already. */
  readonly content: Uint8Array | FetchedContent;
}

export interface FoundUrl {
  readonly kind: FoundKind;
  readonly url: string;
}

export interface ReadPage {
  readonly content: FetchedContent;
  readonly place: FoundPlace;
  /** By a robots meta. */
  readonly noFollow: boolean;
  /** Without those that this thread has given before. */
  readonly urls: readonly FoundUrl[];
  readonly withDigest: readonly string[];
  readonly payloads: readonly string[];
}

export interface SiteNames {
  /** By canonical address. */
  readonly paths: ReadonlyMap<string, string>;
  /** By canonical address: fragment that its redirect adds, with its `#`. */
  readonly fragments: ReadonlyMap<string, string>;
  readonly asked: readonly string[];
}

export interface WriteOrder {
  readonly url: string;
  readonly path: string;
  readonly content: FetchedContent;
  /** Null: stored as it is. */
  readonly place: FoundPlace | null;
  /** References are written from the root: the page is answered at other addresses than its own. */
  readonly isRooted: boolean;
  readonly needsDigest: boolean;
}

export interface WrittenPage {
  /** Bytes are still to be stored. */
  readonly content: StoredFile | Uint8Array;
  /** Of changed content, where asked for. */
  readonly integrity: string | null;
}

export interface PublishedOrder {
  readonly url: string;
  readonly content: Uint8Array | FetchedContent;
}
