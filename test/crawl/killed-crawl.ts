import { CrawlHome, crawlOf } from './crawled-site.ts';

/** A process that crawls a site until it is killed: `node killed-crawl.ts <dir of a home> <url>`. */
const [dir = '', url = ''] = process.argv.slice(2);
await CrawlHome.at(dir).crawl(crawlOf(url), { job: 'killed' });
