/** The words of an export job (contract, section 6). */

export const JOB_STATUSES = ['queued', 'running', 'completed', 'failed'] as const;
/** The last two are terminal: automation treats exactly them so. */
export type JobStatus = (typeof JOB_STATUSES)[number];

/** `se_` and 16 lower-case hex digits. */
export const JOB_ID_PATTERN = /^se_[0-9a-f]{16}$/;

/** One static export, as the API answers it. */
export interface Job {
  readonly jobId: string;
  /** The site's label, however it was asked for. */
  readonly domain: string;
  /** The label of the export; null where none was given. */
  readonly version: string | null;
  readonly status: JobStatus;
  /** 0 to 100, never falls. */
  readonly progress: number;
  /** HTML files exported so far, 404 pages among them. */
  readonly pageCount: number;
  /** RFC 3339, UTC. */
  readonly createdAt: string;
  readonly updatedAt: string;
  /** One sentence that an operator can act on where the job failed, else null. */
  readonly error: string | null;
}

export function isTerminal(status: JobStatus): boolean {
  return status === 'completed' || status === 'failed';
}

/** What an export is asked to hold. */
export interface ExportRequest {
  readonly domain: string;
  readonly version: string | null;
  /** Paths of pages that it is limited to; null: the whole site. */
  readonly paths: readonly string[] | null;
}

/** The archive that a completed job has packed. */
export interface ExportedBundle {
  readonly sha256: string;
  readonly sizeBytes: number;
  /** Digest of what it holds, under which its manifest is kept: it packs the same archive again. */
  readonly contentSha256: string;
}

/** `{subdomain}-export-{YYYY-MM-DD}.tar.gz`, the date that of the job. */
export function bundleFileName({ domain, createdAt }: Pick<Job, 'domain' | 'createdAt'>): string {
  return `${domain}-export-${createdAt.slice(0, 10)}.tar.gz`;
}

/** One thing that an export found wrong, or left out. */
export interface Finding {
  /** Lower case with underscores: `broken_reference`, `missing_fragment`, `off_origin_load`, `left_out`, … */
  readonly kind: string;
  /** Path of the page or file that it was found on. */
  readonly page: string;
  /** What, in one line: the reference as written, the reason why a file was left out. */
  readonly detail: string;
}

/** What was exported, left out and found wrong (`GET /jobs/{jobId}/report`). */
export interface ExportReport {
  readonly jobId: string;
  readonly pages: number;
  readonly files: number;
  /** Bytes of all files. */
  readonly bytes: number;
  /** How many findings of each kind there are, those that the list leaves out included. */
  readonly counts: Readonly<Record<string, number>>;
  /** At most `FINDINGS_MAX`, in the order of their pages. */
  readonly findings: readonly Finding[];
}

/** Findings that a report lists; the rest is counted. A site that is wrong everywhere is wrong in one way. */
export const FINDINGS_MAX = 1000;
