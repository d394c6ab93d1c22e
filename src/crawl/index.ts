/**
 *     seeds.ts, listed-urls.ts (addresses) -> crawl.ts (what is asked next) -> ask/, fetch/ (one address, its answer)
 *         ^ found by pages/ (in threads) and render/ (in the browser) <- page-store.ts, kept/ (on the disk)
 *     names.ts (paths of the files) -> site/ (all of it written; pages/ rewrites each) -> verify/ (opened and compared)
 *
 * `scope.ts`, `admission.ts` and `robots.ts` say what is taken on. The functions here load what they need.
 */
import { join } from 'node:path';
import type { BrowserSettings, CrawlSettings } from '../domain/crawl.ts';
import type { SiteSource } from '../domain/job.ts';
import type { CrawlSourceOptions } from './crawl-source.ts';
import type { LiveSiteOptions } from './render/live-site.ts';
import type { VerifySiteOptions } from './verify/index.ts';

export async function source(options: CrawlSourceOptions): Promise<SiteSource> {
  const { CrawlSource } = await import('./crawl-source.ts');
  return new CrawlSource(options);
}

interface VerifyCrawlOptions
  extends Omit<LiveSiteOptions, 'settings'>,
    Pick<VerifySiteOptions, 'siteDir' | 'files' | 'picturesDir'> {
  readonly source: CrawlSettings;
  readonly browser: BrowserSettings;
}

export async function verify(
  { source: settings, siteDir, files, browser, picturesDir, ...places }: VerifyCrawlOptions,
  events: Pick<VerifySiteOptions, 'find' | 'onProgress'>,
  signal: AbortSignal,
): Promise<void> {
  const [{ ChromiumRenderer }, { CrawledLiveSite }, { verifySite }, { EgressPolicy }] = await Promise.all([
    import('./browser/chromium-renderer.ts'),
    import('./render/live-site.ts'),
    import('./verify/index.ts'),
    import('../net/egress.ts'),
  ]);
  const renderer = await ChromiumRenderer.make(
    new EgressPolicy(places.egress),
    browser,
    join(places.workDir, 'browser'),
  );
  await using live = await CrawledLiveSite.open({ ...places, settings });
  await verifySite({ renderer, siteDir, files, live, picturesDir, ...events, signal });
}

export async function recordedContents(recordsDir: string): Promise<ReadonlySet<string>> {
  const record = await import('./kept/crawl-record.ts');
  return record.recordedContents(recordsDir);
}
