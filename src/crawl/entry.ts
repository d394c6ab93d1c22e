import type { AskedAs } from './ask/answer-type.ts';
import type { FetchedContent, FetchedUrl } from './ask/fetched-url.ts';
import type { FoundPlace } from './pages/page-work.ts';

/** An address that the crawl has taken on, and what became of it. */
export interface Entry {
  /** Canonical. */
  readonly url: string;
  askedAs: AskedAs;
  /** Address of the page or file that names it first; empty where none does. */
  readonly referrer: string;
  /** Links from the start to it. */
  readonly depth: number;
  /** Redirects that led to it, one after the other. */
  readonly redirects: number;
  /** Nobody misses it where it is not there. */
  readonly isOptional: boolean;
  /** Request headers of the page that asked for it, names in lower case; null where it sent none. */
  readonly headers: Readonly<Record<string, string>> | null;
  state: 'waiting' | 'asked' | 'done';
  /** False where the page forbids to follow its links. */
  isFollowed: boolean;
  fetched: FetchedUrl | null;
  /** A page came where a file was asked for, as sites answer whose every address is one page's: it was not kept. */
  isPageInstead: boolean;
  /** The page as its scripts have made it, where that is written in place of what came. */
  settled: FetchedContent | null;
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

/** Its content as it is written, but for its references. */
export function contentOf({ settled, fetched }: ContentEntry): FetchedContent {
  return settled ?? fetched.content;
}
