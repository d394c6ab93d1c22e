import type { EgressRules } from './egress.ts';
import type { ArchiveLimits } from './limits.ts';
import type { FileEntry } from './release.ts';

/**
 * Settings of a crawl as plain data, because docshelf sends them to a thread. Contains paths of files with secrets, not the
 * secrets.
 */
export interface CrawlSettings {
  readonly kind: 'crawl';
  /** Start page. The site is all pages under the folder of this page. */
  readonly url: string;
  readonly allowAddresses: readonly string[];
  readonly robots: 'respect' | 'ignore';
  readonly cookieFile: string | null;
  readonly bearerFile: string | null;
  readonly headersFile: string | null;
  readonly concurrency: number;
  /** Maximum requests per second to a host. 0 means no limit. */
  readonly rateMax: number;
  readonly limits: CrawlLimits;
  readonly render: RenderSettings | null;
}

export type RenderSettings = { readonly scripts: 'keep' | 'drop' };

export interface BrowserSettings {
  readonly sandbox: 'auto' | 'off';
  readonly tabs: number;
  readonly pageTimeoutMs: number;
  readonly verify: 'auto' | 'off';
}

export interface CrawlLimits {
  readonly pagesMax: number;
  readonly depthMax: number;
  /** Maximum pages whose addresses differ only in their query. */
  readonly queryVariantsMax: number;
  readonly pageBytesMax: number;
  readonly requestTimeoutMs: number;
}

interface CrawlPlaces {
  readonly settings: CrawlSettings;
  readonly egress: EgressRules;
  readonly browser: BrowserSettings;
  /** Folder of the file store, which contains the crawled responses and the exported files. */
  readonly filesDir: string;
  /** Folder with the responses of all attempts of one export job. */
  readonly journalDir: string;
  /** Folder for temporary files of one attempt. */
  readonly workDir: string;
}

export interface CrawlOptions extends CrawlPlaces {
  readonly hosts: readonly string[];
  readonly limits: ArchiveLimits;
  /** Folder with the responses of the last complete crawl of each domain. */
  readonly recordsDir: string;
  readonly pageThreads: number;
}

export interface VerifyCrawlOptions extends CrawlPlaces {
  readonly siteDir: string;
  readonly files: readonly FileEntry[];
  readonly picturesDir: string;
}
