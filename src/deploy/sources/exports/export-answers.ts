import { type BundleAnswer, JOB_STATUSES, type JobAnswer, type JobStatus } from '../../../domain/job.ts';
import { Secret } from '../../../domain/secret.ts';

/**
 * The answers of a static export service, read for what they say. Only what a client cannot do without is demanded: of a job
 * its id and status, of a bundle its link. Null: it is no such answer.
 */

const TEXT_LENGTH_MAX = 4096;
const SHA256 = /^[0-9a-f]{64}$/i;
/** Fit for a URL, a log and a terminal, whoever's ids they are. */
const JOB_ID = /^[\x21-\x7e]{1,256}$/;

export function readJob(answer: unknown): JobAnswer | null {
  const { jobId, domain, version, status, progress, pageCount, createdAt, updatedAt, error } = membersOf(answer);
  if (!isJobId(jobId) || !isStatus(status)) return null;
  return {
    jobId,
    domain: text(domain),
    version: text(version),
    status,
    progress: number(progress, 100),
    pageCount: number(pageCount, Number.MAX_SAFE_INTEGER),
    createdAt: text(createdAt),
    updatedAt: text(updatedAt),
    error: text(error),
  };
}

/** @param jobId of the job that was asked about, for a service that does not repeat it. */
export function readBundle(answer: unknown, jobId: string): BundleAnswer | null {
  const members = membersOf(answer);
  const { bundleUrl, sha256 } = members;
  // Nothing but http(s): a service must not have its client read a file of the client's own machine.
  if (typeof bundleUrl !== 'string' || !/^https?:\/\//i.test(bundleUrl) || !URL.canParse(bundleUrl)) return null;
  return {
    jobId: isJobId(members.jobId) ? members.jobId : jobId,
    bundleUrl: new Secret(bundleUrl),
    sizeBytes: number(members.sizeBytes, Number.MAX_SAFE_INTEGER),
    expiresAt: text(members.expiresAt),
    sha256: typeof sha256 === 'string' && SHA256.test(sha256) ? sha256.toLowerCase() : null,
    signature: signatureText(members.signature),
  };
}

/** The jobs of a list, those left out that are none. */
export function readJobs(answer: unknown): readonly JobAnswer[] | null {
  const { jobs } = membersOf(answer);
  return Array.isArray(jobs) ? jobs.map(readJob).filter((job) => job !== null) : null;
}

export function isJobId(value: unknown): value is string {
  return typeof value === 'string' && JOB_ID.test(value);
}

/** The members of a JSON object; of anything else none. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function isStatus(value: unknown): value is JobStatus {
  return (JOB_STATUSES as readonly unknown[]).includes(value);
}

/** One line: what a service says is shown on terminals and in logs. */
function text(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const line = value.slice(0, TEXT_LENGTH_MAX).replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
  return line === '' ? null : line;
}

/** A minisign signature has four lines. */
function signatureText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value.slice(0, TEXT_LENGTH_MAX) : null;
}

function number(value: unknown, max: number): number | null {
  return typeof value === 'number' && value >= 0 ? Math.min(value, max) : null;
}
