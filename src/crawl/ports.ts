/** How the crawl asks for files: one request at a time, each guarded, bounded and without redirects. */

export interface FetchRequest {
  /** Absolute, http or https; a fragment is not sent. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** What a body may be, by the media type that its answer names (empty where it names none). */
  readonly limitsOf: (mediaType: string) => BodyLimits;
}

export interface BodyLimits {
  /** Decoded bytes. Over it the request fails with `source_too_large`. */
  readonly bytesMax: number;
  /** Over it the body is a file and not in memory. */
  readonly memoryBytesMax: number;
}

export interface FetchedAnswer {
  readonly status: number;
  /** A header by its lower-case name; one that came several times joined by `, `. */
  header(name: string): string | null;
  /** Decoded. A file is the caller's to remove. */
  readonly body: Uint8Array | { readonly file: string; readonly bytes: number };
}

export interface Fetcher {
  /**
   * GETs one address. Every status resolves; no redirect is followed.
   *
   * @throws DocshelfError `address_not_allowed`, `source_unreachable`, `source_timeout`, `source_truncated`, `source_failed`,
   *   `source_too_large`, `source_encoded`, with `fields.retryable`; the signal's reason where that aborts
   */
  fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchedAnswer>;

  /** Ends every connection, also those in use. */
  close(): Promise<void>;
}
