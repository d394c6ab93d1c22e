import { DocshelfError } from '../../../domain/errors.ts';
import type { JobStatus } from '../../../domain/job.ts';
import type { StoredJob } from '../../ports.ts';

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

/** The cursor at the end of a page: base64url of the `seq` of its last job. */
export function cursorOf(seq: number): string {
  return Buffer.from(String(seq)).toString('base64url');
}

/** The `seq` that the page after a cursor begins below. @throws DocshelfError `bad_request` */
export function seqOf(cursor: string | undefined): number {
  if (cursor === undefined) return Number.MAX_SAFE_INTEGER;
  const seq = Number(Buffer.from(cursor, 'base64url').toString());
  // Node skips characters that are no base64url: a cursor comes out the same again.
  if (Number.isSafeInteger(seq) && seq > 0 && cursorOf(seq) === cursor) return seq;
  throw new DocshelfError('bad_request', `Cannot list jobs from "${cursor.slice(0, 64)}": it is no cursor`, {
    next: 'Give the nextCursor of an earlier answer, unchanged, or none to begin with the newest job.',
    fields: { field: 'cursor' },
  });
}
