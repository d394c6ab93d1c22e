import { DocshelfError, type ErrorCode } from '../domain/errors.ts';
import { linkWithoutSecrets, type Secret } from '../domain/secret.ts';

/** Opens a bundle as a stream of bytes. The caller (`fetchBundle`) limits and stores them, retries, and checks the digest. */
export interface BundleSource {
  /** Matches the links that the source can open. */
  readonly links: RegExp;

  /**
   * @throws DocshelfError `link_expired`, `link_refused`, `bundle_not_found`, `source_*`, with `fields.retryable` and possibly
   * `fields.retryAfterMs`
   */
  open(link: Secret, request: OpenRequest): Promise<OpenedBundle>;
}

export interface OpenRequest {
  /**
   * Partial download on disk. If the bundle still has this `etag`, the source can send the bytes from `offset` on. Null for a
   * new download.
   */
  readonly resume: { readonly offset: number; readonly etag: string } | null;
  readonly signal: AbortSignal;
}

export interface OpenedBundle {
  readonly stream: AsyncIterable<Uint8Array>;
  readonly offset: number;
  readonly totalBytes: number | null;
  /**
   * False if only the closed connection marks the end of the body (RFC 9112, section 8). docshelf then cannot detect a
   * truncated body.
   */
  readonly endIsCertain: boolean;
  readonly etag: string | null;
  readonly sha256?: string;
  readonly fileName: string | null;
  /** Closes the connection or file. Call it unless the stream was read to its end. After a complete read, it has no effect. */
  close(): void;
}

/** @param link source of the bundle, shown without its query @param fields error fields, of which `retryable` is false by default */
export function cannotFetch(
  link: Secret | string,
  code: ErrorCode,
  state: string,
  next: string,
  fields: Readonly<Record<string, unknown>> = {},
): DocshelfError {
  const shown = typeof link === 'string' ? link : linkWithoutSecrets(link.reveal());
  return new DocshelfError(code, `Cannot fetch "${shown}": ${state}`, {
    next,
    fields: { retryable: false, ...fields },
  });
}

/**
 * Export service that returns links to bundles.
 * @throws DocshelfError `unauthorized`, `forbidden`, `not_found`, `export_service_failed`, `source_*`, with `fields.retryable`
 */
export interface LinkSource {
  /**
   * Link to the bundle of the configured job, or if none is configured, of the newest export of `version`. Null if no such
   * export exists.
   */
  freshLink(version: string | null, signal: AbortSignal): Promise<FreshLink | null>;

  startExport(version: string | null, signal: AbortSignal): Promise<string>;

  /** @throws DocshelfError `job_failed`, `job_timeout`, and the codes of `freshLink` */
  linkWhenDone(jobId: string, signal: AbortSignal): Promise<FreshLink>;
}

export interface FreshLink {
  readonly jobId: string;
  readonly link: Secret;
  readonly sha256: string | null;
  readonly signature: string | null;
  readonly traceparent?: string | null;
}

export interface OwnExportService {
  newest(domain: string, version: string | null): Promise<Omit<FreshLink, 'link'> | null>;

  read(
    domain: string,
    jobId: string,
    signal: AbortSignal,
  ): Promise<{
    readonly stream: AsyncIterable<Uint8Array>;
    readonly sizeBytes: number;
    readonly fileName: string;
  }>;
}
