/** A live site as a source: fetched page by page, looked through as it comes, and written anew at its end. */
export { CrawlSource, type CrawlSourceOptions } from './crawl-source.ts';
