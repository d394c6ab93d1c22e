/**
 * Flow of a crawl, whose steps `crawl-source.ts` calls:
 *
 *     listed-urls.ts (addresses) -> admission.ts, scope.ts (rules) -> crawl.ts, fetch-queue.ts (order)
 *         ^                                                            -> responder.ts, fetcher.ts (one response)
 *         '- references, found by pages/ in threads and render/ in the browser <- crawl-record.ts (earlier responses)
 *     names.ts (paths of files) -> write-site.ts (files, each rewritten by pages/) -> verify.ts (opens and compares pages)
 *
 * The functions here load only the modules that they need.
 */
import type { CrawlOptions, VerifyCrawlOptions } from '../domain/crawl.ts';
import type { SiteSource } from '../domain/job.ts';
import type { VerifySiteOptions } from './verify.ts';

export async function collect(options: CrawlOptions, ...given: Parameters<SiteSource>): Promise<void> {
  const { crawlSite } = await import('./crawl-source.ts');
  await crawlSite(options, ...given);
}

export async function verify(
  options: VerifyCrawlOptions,
  events: Pick<VerifySiteOptions, 'find' | 'onProgress'>,
  signal: AbortSignal,
): Promise<void> {
  const [{ browserOpener }, { CrawledLiveSite }, { verifySite }, { EgressPolicy }] = await Promise.all([
    import('./browser/chromium-session.ts'),
    import('./render/live-site.ts'),
    import('./verify.ts'),
    import('../net/egress.ts'),
  ]);
  const { browser, egress, workDir } = options;
  const openBrowser = browserOpener(browser, new EgressPolicy(egress), workDir);
  await using live = await CrawledLiveSite.open(options);
  await verifySite({ ...options, openBrowser, live, ...events, signal });
}

export async function recordedContents(recordsDir: string): Promise<ReadonlySet<string>> {
  const record = await import('./crawl-record.ts');
  return record.recordedContents(recordsDir);
}
