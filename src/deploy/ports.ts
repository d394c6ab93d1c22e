import { DocshelfError, type ErrorCode } from '../domain/errors.ts';
import { linkWithoutSecrets, type Secret } from '../domain/secret.ts';

/** Hands out a raw stream; the fetch around it spools, bounds, retries and verifies. No HTTP word crosses this port. */
export interface BundleSource {
  handles(link: Secret): boolean;

  /**
   * Rejects, as the stream does, with the signal's reason.
   * @throws DocshelfError `link_expired`, `link_refused`, `bundle_not_found`, `source_*`, `too_many_redirects`,
   *   `host_not_allowed`, `cannot_read`; `fields.retryable`, `fields.retryAfterMs`
   */
  open(link: Secret, request: OpenRequest): Promise<OpenedBundle>;
}

export interface OpenRequest {
  /** Bytes on disk; the source may go on from there if `etag` still names the same content. */
  readonly resume: { readonly offset: number; readonly etag: string } | null;
  readonly signal: AbortSignal;
}

export interface OpenedBundle {
  /** Throws a `source_*` code if the bytes stop early. */
  readonly stream: AsyncIterable<Uint8Array>;
  /** The resume offset if the source resumed, else 0. */
  readonly offset: number;
  readonly totalBytes: number | null;
  /** False if a cut transfer looks finished: an HTTP/1.0 body that ends with its connection (RFC 9112 section 8). */
  readonly endIsCertain: boolean;
  /** A strong validator for resuming, or null. */
  readonly etag: string | null;
  readonly sha256?: string;
  readonly fileName: string | null;
  /** Needed if the stream is not read to its end, harmless otherwise. */
  close(): void;
}

/** Error of a source. @param link a Secret is shown without its query @param fields `retryable` is false by default */
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
 * Export service. @throws DocshelfError `unauthorized`, `forbidden`, `not_found`, `export_service_failed`, `source_*`,
 * `host_not_allowed` and others, with `fields.retryable`, or the signal's reason
 */
export interface LinkSource {
  /** To the configured job's bundle, else the newest export's (of that label); null: none, or unknown. */
  freshLink(version: string | null, signal: AbortSignal): Promise<FreshLink | null>;

  /** @returns the job's id */
  startExport(version: string | null, signal: AbortSignal): Promise<string>;

  /** @throws DocshelfError `job_failed`, `job_timeout` besides. */
  linkWhenDone(jobId: string, signal: AbortSignal): Promise<FreshLink>;
}

export interface FreshLink {
  readonly jobId: string;
  readonly link: Secret;
  readonly sha256: string | null;
  readonly signature: string | null;
  /** Trace of the job's start. */
  readonly traceparent?: string | null;
}

/** The service side of this daemon, for its own sites. */
export interface OwnExportService {
  /** The newest completed export of the domain, and of the version if one is named; null if there is none. */
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
