import type { JobStatus } from '../../domain/job.ts';
import type { StoredJob } from '../ports.ts';

/** The columns of a job that its readers get. */
export const JOB_COLUMNS = `seq, jobId, organizationId, domain, version, status, progress, pageCount, createdAtMs, updatedAtMs,
  attempt, isCanceled, bundleSha256, bundleSizeBytes, contentSha256, error, paths, checkpoint`;

export interface JobRow {
  readonly seq: number;
  readonly jobId: string;
  readonly organizationId: string;
  readonly domain: string;
  readonly version: string | null;
  readonly status: JobStatus;
  readonly progress: number;
  readonly pageCount: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly attempt: number;
  readonly isCanceled: 0 | 1;
  /** The three of them are null together. */
  readonly bundleSha256: string | null;
  readonly bundleSizeBytes: number | null;
  readonly contentSha256: string | null;
  readonly error: string | null;
  /** JSON. */
  readonly paths: string | null;
  readonly checkpoint: string | null;
}

export function toStoredJob(row: JobRow): StoredJob {
  const { bundleSha256: sha256, bundleSizeBytes: sizeBytes, contentSha256 } = row;
  return {
    jobId: row.jobId,
    organizationId: row.organizationId,
    domain: row.domain,
    version: row.version,
    paths: row.paths === null ? null : (JSON.parse(row.paths) as string[]),
    status: row.status,
    progress: row.progress,
    pageCount: row.pageCount,
    createdAt: new Date(row.createdAtMs).toISOString(),
    updatedAt: new Date(row.updatedAtMs).toISOString(),
    error: row.error,
    attempt: row.attempt,
    isCanceled: row.isCanceled === 1,
    checkpoint: row.checkpoint,
    bundle:
      sha256 === null || sizeBytes === null || contentSha256 === null ? null : { sha256, sizeBytes, contentSha256 },
  };
}
