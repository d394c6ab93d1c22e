import type { OpenFetcher } from './ports.ts';
import type { OpenRenderer } from './render/ports.ts';

/** What a crawl reaches the world with, given by the composition root; each is loaded when it is first needed. */
export interface CrawlAdapters {
  readonly openFetcher: OpenFetcher;
  readonly openRenderer: OpenRenderer;
}
