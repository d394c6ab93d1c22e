/** Plain data that crosses a thread, so secrets are named by their files. */
export interface CrawlSettings {
  readonly kind: 'crawl';
  /** The site is everything below its folder. */
  readonly url: string;
  /** Private networks (CIDR) for the site's own origins, and pairs `host:port` of others. */
  readonly allowAddresses: readonly string[];
  readonly robots: 'respect' | 'ignore';
  readonly cookieFile: string | null;
  readonly bearerFile: string | null;
  readonly concurrency: number;
  /** Requests per second to one host; 0: unlimited. */
  readonly rateMax: number;
  readonly limits: CrawlLimits;
  readonly render: RenderSettings | null;
}

export type RenderSettings = { readonly scripts: 'keep' | 'drop' };

export interface BrowserSettings {
  readonly sandbox: 'auto' | 'off';
  readonly tabs: number;
  /** Time for one page; half of it to load, a sixth to settle. */
  readonly pageTimeoutMs: number;
  readonly verify: 'auto' | 'off';
}

export interface CrawlLimits {
  readonly pagesMax: number;
  readonly depthMax: number;
  /** Limit of pages whose addresses differ only in their query. */
  readonly queryVariantsMax: number;
  readonly pageBytesMax: number;
  readonly requestTimeoutMs: number;
}
