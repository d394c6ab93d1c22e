/** Orders for a crawl: plain data that crosses a thread, so secrets are named by their files. */
export interface CrawlSettings {
  readonly kind: 'crawl';
  /** Where it begins; pages below its folder are the site. */
  readonly url: string;
  /** Private addresses and networks (CIDR) that it may reach. */
  readonly allowAddresses: readonly string[];
  /** Honours robots.txt and robots metas. */
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
  /** How a browser renders its pages; null: they are taken as they come. */
  readonly render: RenderSettings | null;
}

export interface RenderSettings {
  /** Scripts of pages that scripts have written: kept or dropped. */
  readonly scripts: 'keep' | 'drop';
}

/** How the system's browser is run. Plain data: it crosses a thread. */
export interface BrowserSettings {
  /** Chromium's sandbox; `auto`: on, except as root, where it cannot run. */
  readonly sandbox: 'auto' | 'off';
  /** Pages that are rendered at once. */
  readonly tabs: number;
  /** Time for one page; half of it to load, a sixth to settle. */
  readonly pageTimeoutMs: number;
  /** Proof of the written site in the browser, where one is installed. */
  readonly verify: 'auto' | 'off';
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

/** The way out of this machine, for every crawl. Plain data. */
export interface CrawlNetwork {
  readonly connectTimeoutMs: number;
  /** A transfer without one byte for this long has failed. */
  readonly idleTimeoutMs: number;
  /** `env`, `off`, or the proxy's URL. */
  readonly proxy: string;
  readonly caFile: string | null;
}
