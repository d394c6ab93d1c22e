import type { JobStatus } from './job.ts';
import type { Secret } from './secret.ts';

/** What a static export service tells its client (contract, section 6). Another vendor's says less than ours: null where it does not say. */

/** A job, with the members that the API answers it with. */
export interface JobAnswer {
  readonly jobId: string;
  readonly domain: string | null;
  readonly version: string | null;
  readonly status: JobStatus;
  /** 0 to 100. */
  readonly progress: number | null;
  /** HTML files exported so far. */
  readonly pageCount: number | null;
  /** RFC 3339. */
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
  /** Why it failed. */
  readonly error: string | null;
}

/** A presigned link to the bundle of a completed job. */
export interface BundleAnswer {
  readonly jobId: string;
  /** A credential: whoever has it may download the bundle. Always http(s). */
  readonly bundleUrl: Secret;
  readonly sizeBytes: number | null;
  /** RFC 3339. */
  readonly expiresAt: string | null;
  /** 64 lower-case hex digits. */
  readonly sha256: string | null;
  /** By minisign. */
  readonly signature: string | null;
}
