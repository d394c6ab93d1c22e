import { afterEach, beforeEach } from 'vitest';
import type { CrawlSettings } from '../../src/domain/crawl.ts';
import type { RecordingSink } from '../export/recording-sink.ts';
import { CrawlHome, crawlOf } from './crawled-site.ts';
import { type Origin, type OriginFile, originOf } from './origin.ts';

type Files = Readonly<Record<string, OriginFile>>;

/** Creates the folders and live sites of each test, and removes them after the test. */
export function crawlBench() {
  const origins: Origin[] = [];
  let home: CrawlHome;
  beforeEach(async () => {
    home = await CrawlHome.make();
  });
  afterEach(async () => {
    for (const origin of origins.splice(0)) await origin.close();
    await home.remove();
  });
  const open = async (files: Files): Promise<Origin> => {
    const origin = await originOf(files);
    origins.push(origin);
    return origin;
  };
  return {
    get home(): CrawlHome {
      return home;
    },
    open,
    /** Crawls a site with these files from its root. */
    crawl: async (files: Files, settings: Partial<CrawlSettings> = {}): Promise<RecordingSink> =>
      home.crawl(crawlOf(`${(await open(files)).origin}/`, settings)),
  };
}
