import type { CrawlOptions, VerifyCrawlOptions } from '../domain/crawl.ts';
import type {
  ExportedBundle,
  ExportReport,
  ExportRequest,
  Finding,
  Job,
  JobFault,
  JobStatus,
  SiteSource,
} from '../domain/job.ts';
import type { CommandSettings, SourceSettings } from '../domain/organization.ts';
import type { FileEntry } from '../domain/release.ts';
import type { FoundSoFar } from './findings.ts';

export interface StoredJob extends Job {
  readonly organizationId: string;
  readonly paths: readonly string[] | null;
  readonly attempt: number;
  readonly isCanceled: boolean;
  readonly checkpoint: string | null;
  readonly traceparent: string | null;
  readonly bundle: ExportedBundle | null;
  readonly fault: JobFault | null;
}

/** Attempt of a job. A process may write to the job only while this attempt is the job's current one. */
export type Claimed = Pick<StoredJob, 'jobId' | 'attempt'>;

export interface NewJob extends ExportRequest {
  readonly jobId: string;
  readonly organizationId: string;
  readonly traceparent: string | null;
}

export type JobFilter = { readonly limit: number; readonly cursor?: string } & (
  | { readonly organizationId: string; readonly domain?: string; readonly status?: JobStatus }
  | { readonly organizationId: null; readonly domain?: undefined; readonly status?: undefined }
);

/** Ended jobs to remove: those that ended before `beforeMs`, or all except the `newest` completed and failed jobs of each domain. */
export type OldJobs = { readonly beforeMs: number } | { readonly newest: number };

export type JobCounts = { readonly queued: number; readonly running: number };

/**
 * Queue that several processes can share. Calls resolve when their changes are durable. A process that has claimed a job may
 * write to the job until the lease expires or another attempt begins. After that, its writes return false.
 */
export interface JobQueue {
  /**
   * Adds a job, or returns a queued job with equal domain, version and paths. @throws DocshelfError `queue_full` if `queuedMax` jobs
   * wait
   */
  add(job: NewJob, queuedMax: number): Promise<StoredJob>;

  get(jobId: string): Promise<StoredJob | null>;

  /** Lists jobs, newest first. @throws DocshelfError `bad_request` if the cursor is not from an earlier call */
  list(filter: JobFilter): Promise<{ readonly jobs: readonly StoredJob[]; readonly nextCursor: string | null }>;

  /**
   * Claims a job. Jobs whose lease was not renewed for `leaseMs` come first. Then organizations take turns, each with its oldest
   * job. A domain has at most one running job. After a database outage, no lease expires for `leaseMs`.
   */
  claim(leaseMs: number): Promise<StoredJob | null>;

  /** Extends the lease. `lost`: another attempt has begun, or the job has ended. `canceled`: a client canceled the job, so stop it. */
  renew(job: Claimed): Promise<'held' | 'lost' | 'canceled'>;

  /** Stores progress and page count, which never decrease. `checkpoint` is the digest of the collected site, for the next attempt. */
  advance(
    job: Claimed,
    step: { readonly progress: number; readonly pageCount: number; readonly checkpoint?: string },
  ): Promise<boolean>;

  /**
   * Ends a job as `completed`, and stores its page count, because the last `advance` can have failed. Returns false if the attempt
   * has lost the job or the job was canceled.
   */
  complete(job: Claimed, bundle: ExportedBundle, report: ExportReport): Promise<boolean>;

  fail(job: Claimed, fault: JobFault, report: ExportReport | null): Promise<boolean>;

  release(job: Claimed): Promise<void>;

  /** Ends a queued job as `failed` with error `canceled`, and a running job at its next `renew`. Null if the job is missing. */
  cancel(jobId: string): Promise<StoredJob | null>;

  report(jobId: string): Promise<ExportReport | null>;

  lastCompleted(organizationId: string, domain: string, version: string | null): Promise<StoredJob | null>;

  counts(organizationId?: string): Promise<JobCounts>;

  /** Short text that changes when a job is added, progresses or ends. Callers poll it to detect changes. */
  revision(): Promise<string>;

  /** Removes ended jobs, except the newest completed job of each domain. @returns number of removed jobs */
  prune(old: OldJobs): Promise<number>;

  references(): Promise<{ readonly bundles: ReadonlySet<string>; readonly contents: ReadonlySet<string> }>;

  close(): Promise<void>;
}

export type PackedBundle = { readonly sha256: string; readonly sizeBytes: number; readonly file: string };

export interface BundleStore {
  put(bundle: PackedBundle, signal: AbortSignal): Promise<void>;

  has(sha256: string): Promise<boolean>;

  /** Creates a signed link to download a bundle with GET. @param ttlMs validity of the link, 1 s to 7 days */
  link(
    bundle: { readonly sha256: string; readonly fileName: string },
    ttlMs: number,
  ): Promise<{ readonly url: string; readonly expiresAt: Date }>;

  read(sha256: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;

  remove(sha256: string): Promise<void>;

  close(): Promise<void>;
}

export type SharedFile = { readonly name: string; readonly changedMs: number };

/** Job files, except bundles, that daemons with separate data folders share. Names of files are paths with slashes. */
export interface SharedFiles {
  put(name: string, bytes: PackedBundle, signal: AbortSignal): Promise<void>;

  read(name: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | null>;

  /** Lists files with names relative to the folder. @param folder path with a slash at its end */
  list(folder: string): AsyncIterable<SharedFile>;

  remove(name: string): Promise<void>;
}

export type BundleLinkRequest = { readonly sha256: string; readonly fileName: string; readonly query: URLSearchParams };

export interface LinkedBundle {
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly diskPath: string;
  readonly contentType: string;
  readonly contentDisposition: string;
}

export type StoreFolders = { readonly filesDir: string; readonly manifestsDir: string };

export interface CollectCommand extends Omit<CrawlOptions, 'settings'> {
  readonly request: ExportRequest;
  readonly source: Exclude<SourceSettings, CommandSettings>;
}

export interface VerifyCommand extends VerifyCrawlOptions {
  readonly found: FoundSoFar;
}

/** Interface of the crawler. It exists because code in `src/export` and code in `src/crawl` must not import each other. */
export interface SiteCrawler {
  collect(order: CrawlOptions, ...given: Parameters<SiteSource>): Promise<void>;

  verify(
    order: VerifyCrawlOptions,
    events: { readonly find: (finding: Finding) => void; readonly onProgress: (done: number, total: number) => void },
    signal: AbortSignal,
  ): Promise<void>;

  recordedContents(recordsDir: string): Promise<ReadonlySet<string>>;
}

export interface SearchData {
  /**
   * Creates the search files of a site. @param into path of the empty folder for these files @returns false if computing the
   * vectors takes longer than `vectorsWithinMs`. The next call continues with the vectors computed so far.
   */
  make(
    site: { readonly siteDir: string; readonly files: readonly FileEntry[] },
    into: string,
    onProgress: (done: number, total: number) => void,
    signal: AbortSignal,
    vectorsWithinMs: number,
  ): Promise<boolean>;
}
