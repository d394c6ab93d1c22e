/** Orders for a crawl: plain data that crosses a thread, so secrets are named by their files. */
export interface CrawlSettings {
  readonly kind: 'crawl';
  /** The site is everything below its folder. */
  readonly url: string;
  /** Private networks (CIDR) for the site's own origins, and pairs `host:port` of others. */
  readonly allowAddresses: readonly string[];
  readonly robots: 'respect' | 'ignore';
  /** For the site's own origin. */
  readonly cookieFile: string | null;
  readonly bearerFile: string | null;
  readonly concurrency: number;
  /** Requests to one host in a second; 0: unbounded. */
  readonly rateMax: number;
  readonly limits: CrawlLimits;
  readonly render: RenderSettings | null;
}

export interface RenderSettings {
  readonly scripts: 'keep' | 'drop';
}

export interface BrowserSettings {
  /** Chromium's sandbox; `auto`: on. */
  readonly sandbox: 'auto' | 'off';
  readonly tabs: number;
  /** Time for one page; half of it to load, a sixth to settle. */
  readonly pageTimeoutMs: number;
  /** Proof of the written site in the browser, where one is installed. */
  readonly verify: 'auto' | 'off';
}

export interface CrawlLimits {
  readonly pagesMax: number;
  /** Links from the start to a page. */
  readonly depthMax: number;
  /** Pages whose addresses differ in their query alone. */
  readonly queryVariantsMax: number;
  readonly pageBytesMax: number;
  readonly requestTimeoutMs: number;
}
