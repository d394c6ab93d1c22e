import type { StoredFile } from '../../files/file-store.ts';
import type { FoundKind, SourceType } from '../../web/rewrite/index.ts';
import type { FetchedContent } from '../ask/fetched-url.ts';
import type { PackFolders } from '../kept/content-packs.ts';

/** Orders and answers of the threads that read and write pages. Plain data. */

export interface PageThreadData {
  readonly filesDir: string;
  /** Shared by the threads of a crawl (`FoundStore`). */
  readonly foundDir: string;
  readonly packFolders: PackFolders;
  readonly attempt: string;
  readonly thread: number;
  /** True where small pages are given back to be stored: the caller of a single thread has time for it. */
  readonly givesPages: boolean;
}

/** Of a file's references; of length 0 in the memory of the thread, else in its file. */
export interface FoundPlace {
  readonly thread: number;
  readonly offset: number;
  readonly length: number;
}

export interface ReadOrder {
  readonly url: string;
  readonly type: SourceType;
  readonly charset: string | null;
  /** Bytes, which are packed, or kept content. */
  readonly content: Uint8Array | FetchedContent;
}

export interface FoundUrl {
  readonly kind: FoundKind;
  /** Canonical. */
  readonly url: string;
}

export interface ReadPage {
  readonly content: FetchedContent;
  readonly place: FoundPlace;
  /** The encoding standard's name. */
  readonly charset: string;
  /** A robots meta forbids to follow its links. */
  readonly noFollow: boolean;
  /** Less those that this thread has told of. */
  readonly urls: readonly FoundUrl[];
  /** Addresses that it names a digest of. */
  readonly withDigest: readonly string[];
  readonly payloads: readonly string[];
}

export interface SiteNames {
  /** Canonical address -> path of the file. */
  readonly paths: ReadonlyMap<string, string>;
  /** Canonical address -> fragment that its redirect adds, with its `#`. */
  readonly fragments: ReadonlyMap<string, string>;
  readonly asked: readonly string[];
}

export interface WriteOrder {
  readonly url: string;
  readonly path: string;
  readonly content: FetchedContent;
  /** Null: it is stored as it is. */
  readonly place: FoundPlace | null;
  /** Writes references from the root: the page is answered at other addresses than its own. */
  readonly isRooted: boolean;
  readonly needsDigest: boolean;
}

export interface WrittenPage {
  /** Stored, or still to be. */
  readonly content: StoredFile | Uint8Array;
  /** Of changed content, where it was asked for. */
  readonly integrity: string | null;
}

export interface PublishedOrder {
  readonly url: string;
  readonly content: Uint8Array | FetchedContent;
}
