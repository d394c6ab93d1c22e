import { DocshelfError, type ErrorCode } from '../../domain/errors.ts';
import {
  type BundleAnswer,
  type ExportReport,
  JOB_STATUSES,
  type JobAnswer,
  type JobStatus,
} from '../../domain/job.ts';
import { Secret } from '../../domain/secret.ts';
import { jsonOf, membersIn, membersOf } from '../../domain/shape.ts';
import { retryAfterOf } from '../../net/retry.ts';

const TEXT_LENGTH_MAX = 4096;
const SHA256 = /^[0-9a-f]{64}$/i;
/** Valid job ids: visible ASCII characters, which are safe in a URL, a log and a terminal. */
const JOB_ID = /^[\x21-\x7e]{1,256}$/;

export function readJob(answer: unknown): JobAnswer | null {
  const { jobId, domain, version, status, progress, pageCount, createdAt, updatedAt, error } = membersIn(answer);
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

export function readBundle(answer: unknown, jobId: string): BundleAnswer | null {
  const members = membersIn(answer);
  const { bundleUrl, sha256, signature } = members;
  // Allow only http and https links, because an export service must not make docshelf read local files.
  if (typeof bundleUrl !== 'string' || !/^https?:\/\//i.test(bundleUrl) || !URL.canParse(bundleUrl)) return null;
  return {
    jobId: isJobId(members.jobId) ? members.jobId : jobId,
    bundleUrl: new Secret(bundleUrl),
    sizeBytes: number(members.sizeBytes, Number.MAX_SAFE_INTEGER),
    expiresAt: text(members.expiresAt),
    sha256: typeof sha256 === 'string' && SHA256.test(sha256) ? sha256.toLowerCase() : null,
    signature: typeof signature === 'string' ? signature.slice(0, TEXT_LENGTH_MAX) || null : null,
  };
}

export function readJobs(answer: unknown): readonly JobAnswer[] | null {
  const { jobs } = membersIn(answer);
  return Array.isArray(jobs) ? jobs.map(readJob).filter((job) => job !== null) : null;
}

export function readReport(answer: unknown): ExportReport | null {
  const { jobId, pages, files, bytes, counts, findings } = membersIn(answer);
  if (!isJobId(jobId) || !Array.isArray(findings)) return null;
  const listed = findings.map((each: unknown) => membersIn(each));
  return {
    jobId,
    pages: number(pages, Number.MAX_SAFE_INTEGER) ?? 0,
    files: number(files, Number.MAX_SAFE_INTEGER) ?? 0,
    bytes: number(bytes, Number.MAX_SAFE_INTEGER) ?? 0,
    counts: Object.fromEntries(Object.entries(membersIn(counts)).map(([kind, count]) => [kind, Number(count)])),
    findings: listed.map(({ kind, page, detail }) => ({
      kind: text(kind) ?? '',
      page: text(page) ?? '',
      detail: text(detail) ?? '',
    })),
  };
}

const isJobId = (value: unknown): value is string => typeof value === 'string' && JOB_ID.test(value);

const isStatus = (value: unknown): value is JobStatus => (JOB_STATUSES as readonly unknown[]).includes(value);

function text(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const line = value.slice(0, TEXT_LENGTH_MAX).replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
  return line === '' ? null : line;
}

function number(value: unknown, max: number): number | null {
  return typeof value === 'number' && value >= 0 ? Math.min(value, max) : null;
}

export interface Refused {
  readonly status: number;
  readonly body: string;
  readonly retryAfter: string | null;
  readonly location: string | null;
}

interface Kind {
  readonly code: ErrorCode;
  readonly next: string;
  readonly retryable?: boolean;
}

const REASON_LENGTH_MAX = 300;
const KEY_NEXT = 'Check the key: it must be an admin key of the organization that owns the domain.';
const LATER_NEXT = 'Try again later, or contact the operator of the service.';

/**
 * @param act words that follow "Cannot" in the message, such as `start an export of "acme" at https://api.example.com`
 * @param key admin key to remove from the message
 */
export function serviceRefusal(act: string, refused: Refused, key: Secret, nowMs: number): DocshelfError {
  const { status } = refused;
  const kind = kindOf(refused);
  const reason = reasonOf(refused.body, key);
  const state = reason === null ? `it responds with ${status}` : `${reason} (${status})`;
  const retryAfterMs = retryAfterOf(refused.retryAfter, nowMs);
  return new DocshelfError(kind.code, `Cannot ${act}: ${state}`, {
    next: kind.next,
    fields: { status, retryable: kind.retryable ?? false, ...(retryAfterMs === null ? {} : { retryAfterMs }) },
  });
}

function kindOf({ status, body, location }: Refused): Kind {
  if (status >= 300 && status < 400) return { code: 'export_service_failed', next: redirectNext(location) };
  switch (status) {
    case 400:
    case 413:
    case 415:
    case 422:
      return { code: 'bad_request', next: 'Fix the value that the message names, then try again.' };
    case 401:
      return { code: 'unauthorized', next: KEY_NEXT };
    case 402:
    case 403:
      return { code: 'forbidden', next: `${KEY_NEXT} The plan of the organization must include static export.` };
    case 404:
    case 410:
      return { code: 'not_found', next: 'Check the domain or job ID, the key, and the address of the service.' };
    case 409: {
      const noSource = codeIn(body) === 'no_source';
      if (noSource) return { code: 'no_source', next: 'Configure a source for this domain at the export service.' };
      return { code: 'not_completed', next: 'Wait until the job is completed ("docshelf export wait").' };
    }
    case 429:
      return { code: codeIn(body) === 'queue_full' ? 'queue_full' : 'rate_limited', next: LATER_NEXT, retryable: true };
  }
  const passes = status === 408 || status === 425 || status >= 500;
  const next = passes ? LATER_NEXT : 'Check the address of the service.';
  return { code: 'export_service_failed', next, retryable: passes };
}

function redirectNext(location: string | null): string {
  const origin = location !== null && URL.canParse(location) ? new URL(location).origin : null;
  return origin === null
    ? 'Set the address of the service to the target of the redirect.'
    : `If ${origin} is the address of the export service, configure this address. docshelf does not send the key to the target of a redirect.`;
}

const codeIn = (body: string): unknown => membersOf<{ code: unknown }>(body).code;

/**
 * Reason in the export service's response, as one line. Removes the admin key and the queries of links, because a query can be
 * a credential.
 */
function reasonOf(body: string, key: Secret): string | null {
  const answer = jsonOf(body);
  const members = membersIn(answer);
  const nested = membersIn(members.error);
  const candidates = [members.error, members.detail, members.message, nested.message, members.title, answer];
  const words = candidates.find((candidate) => typeof candidate === 'string' && candidate.trim() !== '');
  // Ignore a body with markup, because it is an error page for browsers and not readable in a terminal.
  const text = words ?? (answer === undefined && !/^\s*</.test(body) ? body : '');
  const line = String(text)
    .replaceAll(key.reveal(), '[redacted]')
    .replace(/\?[^\s"'<>]{8,}/g, '?[redacted]')
    .replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .trim();
  if (line === '') return null;
  return line.length > REASON_LENGTH_MAX ? `${line.slice(0, REASON_LENGTH_MAX)}…` : line.replace(/\.$/, '');
}
