import type { AskedAs } from './ask/answer-type.ts';
import type { FetchedContent, FetchedUrl } from './ask/fetched-url.ts';
import type { FoundPlace } from './pages/page-work.ts';

export interface Entry {
  /** Canonical. */
  readonly url: string;
  askedAs: AskedAs;
  /** Address of the page or file that names it first, or empty. */
  readonly referrer: string;
  readonly depth: number;
  /** Redirects in a row that led to it. */
  readonly redirects: number;
  /** True where nobody misses it. */
  readonly isOptional: boolean;
  /** Request headers of the page that asked for it, names in lower case. */
  readonly headers: Readonly<Record<string, string>> | null;
  state: 'waiting' | 'asked' | 'done';
  /** False where the page forbids to follow its links. */
  isFollowed: boolean;
  fetched: FetchedUrl | null;
  /** A page came where a file was asked for, and was not kept. */
  isPageInstead: boolean;
  settled: FetchedContent | null;
  /** Media type of the exported content; empty where it is not known. */
  type: string;
  charset: string | null;
  /** Place of its references; null where it has none. */
  place: FoundPlace | null;
}

export interface ContentEntry extends Entry {
  readonly fetched: FetchedUrl & { readonly content: NonNullable<FetchedUrl['content']> };
}

export function hasContent(entry: Entry): entry is ContentEntry {
  return entry.fetched?.status === 200 && entry.fetched.content !== null;
}

/** The content that is written, but for its references. */
export function contentOf({ settled, fetched }: ContentEntry): FetchedContent {
  return settled ?? fetched.content;
}
