/** `node bench/export/run.ts [pack|calls|crawl]`, on a build: prints tables, writes nothing but temporary files. */
import { benchCalls } from './calls.ts';
import { benchCrawl } from './crawl.ts';
import { benchPack } from './pack.ts';

const [part] = process.argv.slice(2);
if (part === undefined || part === 'pack') await benchPack();
if (part === undefined || part === 'calls') await benchCalls();
if (part === undefined || part === 'crawl') await benchCrawl();
