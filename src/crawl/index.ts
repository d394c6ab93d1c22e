/**
 * A live site as a source: fetched page by page, looked through as it comes, and written anew at its end.
 *
 *     lists/ (what names addresses) -> crawl.ts (what is asked next) -> ask/ (one address, its answer) -> kept/ (on the disk)
 *                                          ^ pages/ (read in threads) <-+-> live/ (opened in a browser)
 *     names/ (paths of the files) -> site/ (all of it written; pages/ rewrites each)
 *
 * `crawl-source.ts` joins them; `scope.ts`, `admission.ts`, `traps.ts` and `robots.ts` say what is taken on; `worker.ts` is the
 * entry of the threads for pages.
 */
export { CrawlSource, type CrawlSourceOptions } from './crawl-source.ts';
