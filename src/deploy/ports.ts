import type { Secret } from '../domain/secret.ts';

/**
 * A place that bundles come from: HTTP(S), a file, or a registry. A source hands out the raw stream and what it knows of it; the
 * fetch around it spools, bounds, retries and verifies. No HTTP word crosses this port.
 */
export interface BundleSource {
  /** Whether this source reads such links, by the link's scheme. */
  handles(link: Secret): boolean;

  /**
   * Opens the bundle. Rejects with the signal's reason where that aborts, as the stream does.
   *
   * @throws DocshelfError `link_expired`, `link_refused`, `bundle_not_found`, `source_failed`, `source_unreachable`,
   *   `source_timeout`, `source_encoded`, `too_many_redirects`, `host_not_allowed`, `cannot_read`. `fields.retryable` (boolean) says whether
   *   trying again can help; `fields.retryAfterMs` how long the source asks to wait.
   */
  open(link: Secret, request: OpenRequest): Promise<OpenedBundle>;
}

export interface OpenRequest {
  /** Bytes that are on disk already; the source may go on from there if `etag` still names the same content. */
  readonly resume: { readonly offset: number; readonly etag: string } | null;
  readonly signal: AbortSignal;
}

export interface OpenedBundle {
  /** The bytes from `offset` on. Errors with `source_truncated` or another `source_*` code when they stop early. */
  readonly stream: AsyncIterable<Uint8Array>;
  /** Where the stream begins: the resume offset where the source went on, else 0. */
  readonly offset: number;
  /** Bytes of the whole bundle, or null where the source does not say. */
  readonly totalBytes: number | null;
  /**
   * Whether the stream's end is the bundle's end: its length is known, or the source marks the end. False where a cut
   * transfer looks like a finished one (an HTTP/1.0 body that ends with its connection, RFC 9112 section 8).
   */
  readonly endIsCertain: boolean;
  /** A strong validator for resuming, or null. */
  readonly etag: string | null;
  /** The digest that the link names, 64 lower-case hex digits: the bytes must have it. Absent where it names none. */
  readonly sha256?: string;
  /** The bundle's own file name (Content-Disposition, else the end of the link's path), or null. */
  readonly fileName: string | null;
  /** Ends the transfer and frees what it holds; needed where the stream is not read to its end, harmless elsewhere. */
  close(): void;
}

/**
 * A service that exports the site and gives links to what it exported. Every method throws DocshelfError
 * `unauthorized`, `forbidden`, `not_found`, `export_service_failed`, `source_unreachable`, `source_timeout`, `host_not_allowed` and others,
 * with `fields.retryable` as a source does, or the signal's reason where that aborts.
 */
export interface LinkSource {
  /**
   * A fresh link to a bundle that is there: that of the job that the settings name, else of the newest export, with that
   * label where one is given. Null: there is none, or the service cannot say.
   */
  freshLink(version: string | null, signal: AbortSignal): Promise<FreshLink | null>;

  /** Starts an export with that label. @returns the job's id */
  startExport(version: string | null, signal: AbortSignal): Promise<string>;

  /** Waits until the job is over. @throws DocshelfError `job_failed`, `job_timeout` besides. */
  linkWhenDone(jobId: string, signal: AbortSignal): Promise<FreshLink>;
}

export interface FreshLink {
  readonly jobId: string;
  readonly link: Secret;
  /** Of the bundle, 64 lower-case hex digits; null where the service does not say. */
  readonly sha256: string | null;
  /** Of the bundle, by minisign; null where the service does not say. */
  readonly signature: string | null;
}
