import { DocshelfError, type ErrorCode } from '../../../domain/errors.ts';
import { jobError } from '../../../domain/job.ts';
import type { JobFilter, StoredJob } from '../../ports.ts';

export const JOB_COLUMNS = `seq, jobId, organizationId, domain, version, status, progress, pageCount, createdAtMs, updatedAtMs,
  attempt, isCanceled, bundleSha256, bundleSizeBytes, contentSha256, error, errorCode, errorNext, paths, checkpoint, traceparent`;

export interface JobRow
  extends Omit<StoredJob, 'createdAt' | 'updatedAt' | 'isCanceled' | 'bundle' | 'fault' | 'paths'> {
  readonly seq: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly isCanceled: 0 | 1;
  /** The three of them are null together. */
  readonly bundleSha256: string | null;
  readonly bundleSizeBytes: number | null;
  readonly contentSha256: string | null;
  /** Without a code: of a job that failed before they were kept, the advice in `error`. */
  readonly errorCode: ErrorCode | null;
  readonly errorNext: string | null;
  readonly paths: string | null;
}

export function toStoredJob(row: JobRow): StoredJob {
  const {
    seq: _,
    createdAtMs,
    updatedAtMs,
    isCanceled,
    paths,
    bundleSha256,
    bundleSizeBytes,
    contentSha256,
    error,
    errorCode,
    errorNext,
    ...same
  } = row;
  const isPacked = bundleSha256 !== null && bundleSizeBytes !== null && contentSha256 !== null;
  const fault = error === null || errorCode === null ? null : { code: errorCode, message: error, next: errorNext };
  return {
    ...same,
    error: fault === null ? error : jobError(fault),
    fault,
    paths: paths === null ? null : (JSON.parse(paths) as string[]),
    createdAt: new Date(createdAtMs).toISOString(),
    updatedAt: new Date(updatedAtMs).toISOString(),
    isCanceled: isCanceled === 1,
    bundle: isPacked ? { sha256: bundleSha256, sizeBytes: bundleSizeBytes, contentSha256 } : null,
  };
}

interface Lists<Asked> {
  readonly listOfAll: Asked;
  readonly list: Asked;
  readonly listOfDomain: Asked;
  readonly listOfStatus: Asked;
  readonly listOfDomainAndStatus: Asked;
}

/** The statement that finds what a filter asks for by an index, and its values. @throws DocshelfError `bad_request` */
export function listAsked<Asked>(lists: Lists<Asked>, { organizationId, domain, status, limit, cursor }: JobFilter) {
  // One row more than asked for says whether there is a next page.
  const page = { organizationId, before: seqOf(cursor), limit: limit + 1 };
  if (organizationId === null)
    return { statement: lists.listOfAll, values: { before: page.before, limit: page.limit } };
  const [ofAll, ofDomain] =
    status === undefined ? [lists.list, lists.listOfDomain] : [lists.listOfStatus, lists.listOfDomainAndStatus];
  const values = { ...page, ...(domain !== undefined && { domain }), ...(status !== undefined && { status }) };
  return { statement: domain === undefined ? ofAll : ofDomain, values };
}

/** @param found by `listAsked` */
export function jobPage(found: readonly JobRow[], limit: number) {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const nextCursor = found.length > limit && last !== undefined ? cursorOf(last.seq) : null;
  return { jobs: rows.map(toStoredJob), nextCursor };
}

/** The cursor at the end of a page: base64url of the `seq` of its last job. */
function cursorOf(seq: number): string {
  return Buffer.from(String(seq)).toString('base64url');
}

/** The `seq` that the page after a cursor begins below. @throws DocshelfError `bad_request` */
function seqOf(cursor: string | undefined): number {
  if (cursor === undefined) return Number.MAX_SAFE_INTEGER;
  const seq = Number(Buffer.from(cursor, 'base64url').toString());
  // Node skips characters that are no base64url: a cursor comes out the same again.
  if (Number.isSafeInteger(seq) && seq > 0 && cursorOf(seq) === cursor) return seq;
  throw new DocshelfError('bad_request', `Cannot list jobs from "${cursor.slice(0, 64)}": it is no cursor`, {
    next: 'Give the nextCursor of an earlier answer, unchanged, or none to begin with the newest job.',
    fields: { field: 'cursor' },
  });
}
