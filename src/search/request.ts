import type { Highlight } from './keyword/highlights.ts';

/** What search is asked and what it answers (contract, section 5). Types only. */

export interface SearchRequest {
  /** Trimmed and well-formed Unicode, 1 to 1,000 code points. */
  readonly query: string;
  /** 1 to 50. */
  readonly pageSize: number;
  /** 0 to 1: only results whose score is at least that; null: all. */
  readonly scoreThreshold: number | null;
  readonly filter: {
    readonly version: string | null;
    /** A BCP 47 tag in any case; `pt` also finds `pt-BR`. */
    readonly language: string | null;
    readonly tag: string | null;
  };
  /** Whether the last word may be the beginning of one: search as you type. */
  readonly prefixLast: boolean;
}

/** The object that clients get, in this very form. */
export interface SearchResult {
  /** The matching text of the section. */
  readonly content: string;
  /** The page's path with its `#fragment`. */
  readonly path: string;
  readonly metadata: {
    /** 0 to 1, comparable between queries; what `scoreThreshold` compares. */
    readonly score: number;
    readonly title: string;
    readonly headings: readonly string[];
    readonly version: string | null;
    readonly language: string | null;
    readonly tags: readonly string[];
    /** Places in `content`, in UTF-16 code units, in their order. */
    readonly highlights: readonly Highlight[];
    /** Which engine answered; absent where no hosted search is configured. */
    readonly source?: 'local' | 'hosted';
  };
}

/** The results of a search by descending score. */
export interface SearchAnswer {
  /** Read when it is asked for, where there is `json`. */
  readonly results: readonly SearchResult[];
  /** The array of `results` in UTF-8, where the engine's thread has made it. */
  readonly json?: Uint8Array<ArrayBuffer>;
}

/** One site's search, whatever engine is behind it. */
export interface Search {
  /**
   * The best results by descending score; none is no error.
   *
   * @throws DocshelfError `index_building` (with `fields.retryAfterS`) before the first index exists, `search_off`,
   *   `queue_full`, `index_damaged`; the signal's reason where that aborts.
   */
  search(request: SearchRequest, signal: AbortSignal): Promise<SearchAnswer>;
}
