/** What a crawl is asked to do. Plain data: it crosses a thread, so secrets are named by their files. */
export interface CrawlSettings {
  readonly kind: 'crawl';
  /** Where it begins; pages below its folder are the site. */
  readonly url: string;
  /** Private addresses and networks (CIDR) that it may reach. */
  readonly allowAddresses: readonly string[];
  /** Whether robots.txt and robots metas hold. */
  readonly robots: 'respect' | 'ignore';
  /** Holds what is sent as the Cookie header to the site's origin, and to no other. */
  readonly cookieFile: string | null;
  /** Holds the bearer token that is sent to the site's origin, and to no other. */
  readonly bearerFile: string | null;
  /** Requests to the site's host at a time. */
  readonly concurrency: number;
  /** Requests to one host in a second; 0: as many as it answers. */
  readonly rateMax: number;
  readonly limits: CrawlLimits;
}

/** Against sites without end. What a bundle may hold (`ArchiveLimits`) bounds the rest. */
export interface CrawlLimits {
  readonly pagesMax: number;
  /** Links from the start to a page. */
  readonly depthMax: number;
  /** Addresses of pages that differ in their query alone. */
  readonly queryVariantsMax: number;
  /** Bytes of a page. */
  readonly pageBytesMax: number;
  readonly requestTimeoutMs: number;
}
