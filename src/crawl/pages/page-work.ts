import type { StoredFile } from '../../files/file-store.ts';
import type { FoundKind, SourceType } from '../../web/rewrite/index.ts';
import type { FetchedContent } from '../ask/fetched-url.ts';
import type { PackFolders } from '../kept/content-packs.ts';

/** Orders and answers of the threads that read and write pages. Plain data. */

export interface PageThreadData {
  readonly filesDir: string;
  /** An existing folder, shared by the threads of a crawl, for what they find. */
  readonly foundDir: string;
  readonly packFolders: PackFolders;
  /** Names the attempt, and so the packs of its threads. */
  readonly attempt: string;
  readonly thread: number;
  /** True where small pages are given back to be stored: the caller of one thread alone has time for it. */
  readonly givesPages: boolean;
}

/** Where the references of a file are kept until it is written; of length 0 in the memory of the thread, else in its file. */
export interface FoundPlace {
  readonly thread: number;
  readonly offset: number;
  readonly length: number;
}

export interface ReadOrder {
  readonly url: string;
  readonly type: SourceType;
  /** That the answer named; null where it named none. */
  readonly charset: string | null;
  /** The content as it came: bytes, which are packed, or what is kept already. */
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
  /** As the encoding standard names it. */
  readonly charset: string;
  /** A robots meta forbids to follow its links. */
  readonly noFollow: boolean;
  /** Addresses that it refers to, less those that this thread has told of already. */
  readonly urls: readonly FoundUrl[];
  /** Addresses that it names a digest of. */
  readonly withDigest: readonly string[];
  /** Files that its framework asks for beside it, that may be there or not. */
  readonly payloads: readonly string[];
}

/** Where addresses lead, once that is known. */
export interface SiteNames {
  /** Canonical address -> path of the file. */
  readonly paths: ReadonlyMap<string, string>;
  /** Canonical address -> fragment that its redirect adds, with its `#`. */
  readonly fragments: ReadonlyMap<string, string>;
  /** Canonical addresses that scripts have asked for while they ran. */
  readonly asked: readonly string[];
}

export interface WriteOrder {
  readonly url: string;
  readonly path: string;
  /** As it came. */
  readonly content: FetchedContent;
  /** Null where it was not looked through: it is stored as it is. */
  readonly place: FoundPlace | null;
  /** From the root: for a page that is answered at other addresses than its own. */
  readonly isRooted: boolean;
  /** True where some page names a digest of it. */
  readonly needsDigest: boolean;
}

export interface WrittenPage {
  /** As it is stored, or is still to be. */
  readonly content: StoredFile | Uint8Array;
  /** For `integrity`, where it was asked for and the content has changed. */
  readonly integrity: string | null;
}

export interface PublishedOrder {
  readonly url: string;
  readonly content: Uint8Array | FetchedContent;
}
