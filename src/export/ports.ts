import type { CrawlSettings } from '../domain/crawl.ts';
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
import type { FileEntry } from '../domain/release.ts';
import type { CollectOrder, CrawlOrder, VerifyOrder } from './jobs/orders.ts';

/** A job with the service's internal fields. */
export interface StoredJob extends Job {
  readonly organizationId: string;
  readonly paths: readonly string[] | null;
  readonly attempt: number;
  readonly isCanceled: boolean;
  readonly checkpoint: string | null;
  /** Of the call that it was queued by (W3C Trace Context); null where that was in no trace. */
  readonly traceparent: string | null;
  readonly bundle: ExportedBundle | null;
  /** Null where it has not failed, or did so before codes were kept. */
  readonly fault: JobFault | null;
}

export interface NewJob extends ExportRequest {
  readonly jobId: string;
  readonly organizationId: string;
  readonly traceparent: string | null;
}

/** Right to run a job, until its lease expires or another attempt begins. */
export interface Claim {
  readonly job: StoredJob;
  readonly attempt: number;
}

interface JobPageAsked {
  /** 1 to 100. */
  readonly limit: number;
  readonly cursor?: string;
}

/** Of one organization, or of all. */
export type JobFilter = JobPageAsked &
  (
    | { readonly organizationId: string; readonly domain?: string; readonly status?: JobStatus }
    | { readonly organizationId: null; readonly domain?: undefined; readonly status?: undefined }
  );

export interface JobCounts {
  readonly queued: number;
  readonly running: number;
}

/**
 * Keeps jobs and says who runs which. Every call resolves once what it changed is durable. Several processes may share one
 * queue, and no time of day ends a lease or keeps one alive. Writes with a claim that is lost change nothing, and say false.
 */
export interface JobQueue {
  /**
   * Answers the job that is still queued for the same domain, version and paths, where there is one.
   * @param queuedMax queued jobs that the organization may have. @throws DocshelfError `queue_full`
   */
  add(job: NewJob, queuedMax: number): Promise<StoredJob>;

  get(jobId: string): Promise<StoredJob | null>;

  /** Newest first. @throws DocshelfError `bad_request` where the cursor is none that it gave. */
  list(filter: JobFilter): Promise<{ readonly jobs: readonly StoredJob[]; readonly nextCursor: string | null }>;

  /**
   * The next job to run, now `running`, or null. One running job a domain; organizations take turns, the oldest of each goes
   * first. A job that was not renewed for `leaseMs`, as measured here, is claimed anew before any queued one.
   */
  claim(leaseMs: number): Promise<Claim | null>;

  /** Holds the lease on. `lost`: another attempt has begun, or the job has ended; `canceled`: it is to stop. */
  renew(claim: Claim): Promise<'held' | 'lost' | 'canceled'>;

  /** `progress` and `pageCount` never fall; a `checkpoint`, for the next attempt, has at most 64 Ki characters. */
  advance(
    claim: Claim,
    step: { readonly progress: number; readonly pageCount: number; readonly checkpoint?: string },
  ): Promise<boolean>;

  /** The report says how many pages: steps that told it may be lost. False also where the job is canceled. */
  complete(claim: Claim, bundle: ExportedBundle, report: ExportReport): Promise<boolean>;

  fail(claim: Claim, fault: JobFault, report: ExportReport | null): Promise<boolean>;

  /** Gives the job back, `queued` before all others of its organization, for another process. */
  release(claim: Claim): Promise<void>;

  /**
   * Ends a queued job at once and a running one when its holder hears of it, as `failed` with error `canceled`. One that has
   * ended stays as it is. Null where there is no such job.
   */
  cancel(jobId: string): Promise<StoredJob | null>;

  report(jobId: string): Promise<ExportReport | null>;

  /** The newest completed job with this domain and version. */
  lastCompleted(organizationId: string, domain: string, version: string | null): Promise<StoredJob | null>;

  counts(organizationId?: string): Promise<JobCounts>;

  /** Another text once a job was added, has moved or has ended: cheap, for who looks again and again. */
  revision(): Promise<string>;

  /** Removes ended jobs last changed before `beforeMs` (Unix time), never a domain's newest completed one. @returns how many */
  prune(beforeMs: number): Promise<number>;

  /** Digests that jobs still name, of archives and of their content. */
  references(): Promise<{ readonly bundles: ReadonlySet<string>; readonly contents: ReadonlySet<string> }>;

  close(): Promise<void>;
}

export interface BundleStore {
  /** Takes in a packed archive, whose file may be moved away; nothing where it is kept already. */
  put(
    bundle: { readonly sha256: string; readonly sizeBytes: number; readonly file: string },
    signal: AbortSignal,
  ): Promise<void>;

  has(sha256: string): Promise<boolean>;

  /** A presigned link for GET and HEAD. @param ttlMs 1 s to 7 days */
  link(
    bundle: { readonly sha256: string; readonly fileName: string },
    ttlMs: number,
  ): Promise<{ readonly url: string; readonly expiresAt: Date }>;

  /** @throws DocshelfError `bundle_gone` where it has none, `cannot_read`; the stream, the signal's reason */
  read(sha256: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;

  remove(sha256: string): Promise<void>;

  close(): Promise<void>;
}

export interface SharedFile {
  readonly name: string;
  /** Unix time. */
  readonly changedMs: number;
}

/** What daemons with data folders of their own need of each other's jobs, beside bundles: by names with slashes. */
export interface SharedFiles {
  /** Nothing where it is kept already and not old. @throws DocshelfError `cannot_read`; the signal's reason */
  put(
    name: string,
    bytes: { readonly sha256: string; readonly sizeBytes: number; readonly file: string },
    signal: AbortSignal,
  ): Promise<void>;

  /** Null where there is none. @throws the stream, the signal's reason */
  read(name: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | null>;

  /** @param folder with a slash at its end, which names are without */
  list(folder: string): AsyncIterable<SharedFile>;

  remove(name: string): Promise<void>;
}

export interface FollowedLink {
  readonly sha256: string;
  readonly fileName: string;
  readonly query: URLSearchParams;
}

export interface LinkedBundle {
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly diskPath: string;
  readonly contentType: string;
  readonly contentDisposition: string;
}

/** The crawl, as jobs use it; export and crawl do not know each other. */
export interface SiteCrawler {
  source(
    order: Omit<CollectOrder, 'request' | 'source' | 'crawl'> & CrawlOrder & { readonly settings: CrawlSettings },
  ): Promise<SiteSource>;

  /** Opens pages of the written site in a browser, and finds where they differ from the live ones. */
  verify(
    order: VerifyOrder,
    events: { readonly find: (finding: Finding) => void; readonly onProgress: (done: number, total: number) => void },
    signal: AbortSignal,
  ): Promise<void>;

  /** Digests of the contents in the file store that the records of crawls name. */
  recordedContents(recordsDir: string): Promise<ReadonlySet<string>>;
}

export interface SearchData {
  /**
   * @param into an empty folder: receives the files of `_docshelf/search/`
   * @param vectorsWithinMs after this time it gives up. The next call continues with the vectors computed so far
   * @returns false if it gave up
   */
  make(
    site: { readonly siteDir: string; readonly files: readonly FileEntry[] },
    into: string,
    onProgress: (done: number, total: number) => void,
    signal: AbortSignal,
    vectorsWithinMs: number,
  ): Promise<boolean>;
}
