import type { AskedAs } from './answer-type.ts';
import type { FetchedUrl } from './fetched-url.ts';
import type { FoundPlace } from './page-work.ts';

/** An address that the crawl has taken on, and what became of it. */
export interface Entry {
  /** Canonical. */
  readonly url: string;
  readonly askedAs: AskedAs;
  /** Address of the page or file that names it first; empty where none does. */
  readonly referrer: string;
  /** Links from the start to it. */
  readonly depth: number;
  /** Redirects that led to it, one after the other. */
  readonly redirects: number;
  /** Nobody misses it where it is not there. */
  readonly isOptional: boolean;
  fetched: FetchedUrl | null;
  /** Media type of its content, as it is exported; empty where it is not known. */
  type: string;
  /** Of markup and what else is text in a charset of its own. */
  charset: string | null;
  /** Where its references are kept; null where it is not looked through. */
  place: FoundPlace | null;
}

/** An entry whose content is exported. */
export interface ContentEntry extends Entry {
  readonly fetched: FetchedUrl & { readonly content: NonNullable<FetchedUrl['content']> };
}

export function hasContent(entry: Entry): entry is ContentEntry {
  return entry.fetched?.status === 200 && entry.fetched.content !== null;
}
