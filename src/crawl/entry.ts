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
  /** What the page that asked for it said besides, by lower-case names; null where nothing is said. */
  readonly headers: Readonly<Record<string, string>> | null;
  state: 'waiting' | 'asked' | 'done';
  /** Whether its links are followed: not where it says otherwise. */
  isFollowed: boolean;
  fetched: FetchedUrl | null;
  /** A page came where a file was asked for, as sites answer whose every address is one page's: it was not kept. */
  isPageInstead: boolean;
  /** What its scripts have made of the page, where that is written in place of what came. */
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

/** What is written of it, before its references are. */
export function contentOf({ settled, fetched }: ContentEntry): FetchedContent {
  return settled ?? fetched.content;
}
