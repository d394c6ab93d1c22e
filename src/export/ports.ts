import type { CrawlSettings } from '../domain/crawl.ts';
import type { ExportedBundle, ExportReport, ExportRequest, Finding, Job, JobStatus } from '../domain/job.ts';
import type { FileEntry } from '../domain/release.ts';
import type { SiteSource } from '../domain/site-source.ts';
import type { CollectOrder, CrawlOrder, VerifyOrder } from './jobs/orders.ts';

/** A job with the service's internal fields. */
export interface StoredJob extends Job {
  readonly organizationId: string;
  readonly paths: readonly string[] | null;
  /** Number of claims so far. */
  readonly attempt: number;
  readonly isCanceled: boolean;
  /** Written by the last attempt, for the next to go on from; null before the first. */
  readonly checkpoint: string | null;
  /** Set where the job is completed. */
  readonly bundle: ExportedBundle | null;
}

export interface NewJob extends ExportRequest {
  readonly jobId: string;
  readonly organizationId: string;
}

/** Right to run a job. It holds until its lease expires or another attempt begins; whatever is written carries it. */
export interface Claim {
  readonly job: StoredJob;
  readonly attempt: number;
}

export interface JobFilter {
  readonly organizationId: string;
  readonly domain?: string;
  readonly status?: JobStatus;
  /** 1 to 100. */
  readonly limit: number;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string;
}

export interface JobCounts {
  readonly queued: number;
  readonly running: number;
}

/**
 * Keeps jobs and says who runs which. Every call resolves once what it changed is durable. Several processes may share one
 * queue; times of day are for people only, so that a clock that jumps neither ends a lease nor keeps one alive.
 */
export interface JobQueue {
  /**
   * Adds a job as `queued`.
   *
   * @param queuedMax queued jobs that the organization may have
   * @throws DocshelfError `queue_full`
   */
  add(job: NewJob, queuedMax: number): Promise<StoredJob>;

  get(jobId: string): Promise<StoredJob | null>;

  /** Newest first. @throws DocshelfError `bad_request` where the cursor is none that it gave. */
  list(filter: JobFilter): Promise<{ readonly jobs: readonly StoredJob[]; readonly nextCursor: string | null }>;

  /**
   * The next job to run, now `running`, or null where there is none. One running job a domain; organizations take turns, and
   * within one the oldest goes first. A running job whose holder has not renewed for `leaseMs`, as measured here, is claimed
   * anew, before any queued one.
   */
  claim(leaseMs: number): Promise<Claim | null>;

  /** Holds the lease on. `lost`: another attempt has begun, or the job has ended; `canceled`: it is to stop. */
  renew(claim: Claim): Promise<'held' | 'lost' | 'canceled'>;

  /**
   * Writes down how far it is. `progress` and `pageCount` never fall; a `checkpoint` has at most 64 Ki characters. False, and
   * nothing is written, where the claim is lost.
   */
  advance(
    claim: Claim,
    step: { readonly progress: number; readonly pageCount: number; readonly checkpoint?: string },
  ): Promise<boolean>;

  /** Ends the job as `completed`. False, and nothing is written, where the claim is lost or the job is canceled. */
  complete(claim: Claim, bundle: ExportedBundle, report: ExportReport): Promise<boolean>;

  /** Ends the job as `failed`. False, and nothing is written, where the claim is lost. */
  fail(claim: Claim, error: string, report: ExportReport | null): Promise<boolean>;

  /** Gives the job back, `queued` before all others of its organization: the process ends and another one goes on. */
  release(claim: Claim): Promise<void>;

  /**
   * Asks a job to stop. A queued one ends at once, a running one when its holder hears of it; both as `failed` with error
   * `canceled`. One that has ended stays as it is. Null where there is no such job.
   */
  cancel(jobId: string): Promise<StoredJob | null>;

  report(jobId: string): Promise<ExportReport | null>;

  /** The newest completed job with this domain and version, whatever its bundle: what a new export is compared with. */
  lastCompleted(organizationId: string, domain: string, version: string | null): Promise<StoredJob | null>;

  counts(organizationId?: string): Promise<JobCounts>;

  /**
   * Removes ended jobs that were last changed before `beforeMs` (Unix time), never a domain's newest completed one.
   *
   * @returns how many
   */
  prune(beforeMs: number): Promise<number>;

  /** Digests that jobs still name, of archives and of what they hold: what the folders named by digests must keep. */
  references(): Promise<{ readonly bundles: ReadonlySet<string>; readonly contents: ReadonlySet<string> }>;

  close(): Promise<void>;
}

/** Packed archives by digest, and their links for clients. */
export interface BundleStore {
  /** Takes in a packed archive; the file may be moved away. Nothing happens where it is kept already. */
  put(
    bundle: { readonly sha256: string; readonly sizeBytes: number; readonly file: string },
    signal: AbortSignal,
  ): Promise<void>;

  has(sha256: string): Promise<boolean>;

  /**
   * A presigned link for GET, which covers HEAD, that answers with `fileName` as the name to save under. Only the link
   * expires.
   *
   * @param ttlMs 1 s to 7 days
   */
  link(
    bundle: { readonly sha256: string; readonly fileName: string },
    ttlMs: number,
  ): Promise<{ readonly url: string; readonly expiresAt: Date }>;

  remove(sha256: string): Promise<void>;

  close(): Promise<void>;
}

/** A signed link to a bundle, as a request names it. */
export interface FollowedLink {
  readonly sha256: string;
  readonly fileName: string;
  readonly query: URLSearchParams;
}

/** The bundle behind a signed link of the disk store. */
export interface LinkedBundle {
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly diskPath: string;
  /** As the link fixes them, in place of anything that the request may say. */
  readonly contentType: string;
  readonly contentDisposition: string;
}

/** The crawl, as jobs use it. The composition root hands it in: export and crawl do not know each other. */
export interface SiteCrawler {
  /** A live site as a source. */
  source(order: CrawlSourceOrder): Promise<SiteSource>;

  /** Opens pages of the written site in a browser, and finds where they differ from the live ones. */
  verify(order: VerifyOrder, events: VerifyEvents, signal: AbortSignal): Promise<void>;

  /** Digests of the contents in the file store that the records of crawls name. */
  recordedContents(recordsDir: string): Promise<ReadonlySet<string>>;
}

/** A crawl, whose settings the source of the domain holds. */
export interface CrawlSourceOrder extends Omit<CollectOrder, 'request' | 'source' | 'crawl'>, CrawlOrder {
  readonly settings: CrawlSettings;
}

export interface VerifyEvents {
  readonly find: (finding: Finding) => void;
  readonly onProgress: (done: number, total: number) => void;
}

/** Makes the search data that a bundle carries. */
export interface SearchData {
  /**
   * @param siteDir folder with the site's files
   * @param into an empty folder: receives the files of `_docshelf/search/`
   */
  make(
    site: { readonly siteDir: string; readonly files: readonly FileEntry[] },
    into: string,
    onProgress: (done: number, total: number) => void,
    signal: AbortSignal,
  ): Promise<void>;
}
