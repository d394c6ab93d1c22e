import type { AskedAs } from './ask/answer-type.ts';
import type { FetchedContent, FetchedUrl } from './ask/fetched-url.ts';
import type { FoundPlace } from './pages/page-work.ts';

export interface Entry {
  /** Canonical. */
  readonly url: string;
  askedAs: AskedAs;
  /** Of what names it first; may be empty. */
  readonly referrer: string;
  readonly depth: number;
  /** In a row, up to this address. */
  readonly redirects: number;
  readonly isOptional: boolean;
  /** Of the page that asked for it, names in lower case. */
  readonly headers: Readonly<Record<string, string>> | null;
  state: 'waiting' | 'asked' | 'done';
  isFollowed: boolean;
  fetched: FetchedUrl | null;
  /** A page came where a file was asked for, and was not kept. */
  isPageInstead: boolean;
  settled: FetchedContent | null;
  /** Of the exported content; empty where it is not known. */
  type: string;
  /** Null without references. */
  place: FoundPlace | null;
}

export interface ContentEntry extends Entry {
  readonly fetched: FetchedUrl & { readonly content: NonNullable<FetchedUrl['content']> };
}

export function hasContent(entry: Entry): entry is ContentEntry {
  return entry.fetched?.status === 200 && entry.fetched.content !== null;
}

export function contentOf({ settled, fetched }: ContentEntry): FetchedContent {
  return settled ?? fetched.content;
}
