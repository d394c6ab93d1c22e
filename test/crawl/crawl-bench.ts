import { beforeEach } from 'vitest';
import type { CrawlSettings } from '../../src/domain/crawl.ts';
import type { RecordingSink } from '../export/recording-sink.ts';
import { CrawlHome, crawlOf } from './crawled-site.ts';
import { type OriginFile, originOf } from './origin.ts';

type Files = Readonly<Record<string, OriginFile>>;

/** Creates the folders of each test, and live sites. */
export function crawlBench() {
  let home: CrawlHome;
  beforeEach(async () => {
    home = await CrawlHome.make();
  });
  return {
    get home(): CrawlHome {
      return home;
    },
    open: originOf,
    /** Crawls a site with these files from its root. */
    crawl: async (files: Files, settings: Partial<CrawlSettings> = {}): Promise<RecordingSink> =>
      home.crawl(crawlOf(`${(await originOf(files)).origin}/`, settings)),
  };
}
