import type { BrowserSettings, CrawlSettings } from '../../domain/crawl.ts';
import type { EgressRules } from '../../domain/egress.ts';
import type { ExportRequest } from '../../domain/job.ts';
import type { ArchiveLimits } from '../../domain/limits.ts';
import type { SourceSettings } from '../../domain/organization.ts';
import type { FileEntry } from '../../domain/release.ts';
import type { FoundSoFar } from '../findings.ts';

/** Orders and results of a job's steps. Plain data: it crosses a thread. */

export interface StoreFolders {
  readonly filesDir: string;
  readonly manifestsDir: string;
}

export interface CollectOrder extends StoreFolders {
  readonly request: ExportRequest;
  readonly source: SourceSettings;
  readonly hosts: readonly string[];
  readonly workDir: string;
  readonly limits: ArchiveLimits;
  readonly crawl: CrawlOrder;
}

interface CrawlPlaces {
  readonly egress: EgressRules;
  readonly browser: BrowserSettings;
  /** Of the job, and not of the attempt. */
  readonly journalDir: string;
  readonly recordsDir: string;
}

export interface CrawlOrder extends CrawlPlaces {
  readonly pageThreads: number;
}

export interface CheckOrder extends StoreFolders {
  readonly tableSha256: string;
  /** Receives the site's files; made here. */
  readonly siteDir: string;
  /** Host names of the site, in lower case: references to them are its own. */
  readonly hosts: readonly string[];
}

export interface CheckedSite {
  readonly files: readonly FileEntry[];
  readonly pages: number;
  readonly bytes: number;
  readonly found: FoundSoFar;
}

export interface VerifyOrder extends StoreFolders, CrawlPlaces {
  readonly domain: string;
  readonly source: CrawlSettings;
  readonly siteDir: string;
  readonly files: readonly FileEntry[];
  readonly found: FoundSoFar;
  readonly workDir: string;
  readonly picturesDir: string;
}

export interface DescribeOrder extends StoreFolders {
  readonly request: ExportRequest;
  readonly tableSha256: string;
  /** Holds what goes beside the site as `_docshelf/`; may be empty. */
  readonly ownDir: string;
  readonly createdAt: string;
  readonly generator: string;
}

export interface PackOrder extends StoreFolders {
  readonly contentSha256: string;
  readonly to: string;
}

export interface SweepOrder extends StoreFolders {
  readonly keep: readonly string[];
  /** Records of crawls: what they name is kept too. */
  readonly recordsDir: string;
  /** Content written or used more recently stays, named or not: a job may be at work on it. */
  readonly olderThanMs: number;
}

export type OnStep = (done: number, total: number, pages?: number) => void;
