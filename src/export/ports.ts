import type { CrawlOptions, VerifyCrawlOptions } from '../domain/crawl.ts';
import type { ExportedBundle, ExportRequest, Finding, Job, JobFault, JobStatus, SiteSource } from '../domain/job.ts';
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
  collect(options: CrawlOptions, ...given: Parameters<SiteSource>): Promise<void>;

  verify(
    options: VerifyCrawlOptions,
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
