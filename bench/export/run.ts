/**
 * `node bench/export/run.ts [pack|calls|crawl|memory]`, with a build: prints tables, and writes only temporary files. `memory`
 * takes ten minutes, and runs only if it is named.
 */
import { benchCalls } from './calls.ts';
import { benchCrawl } from './crawl.ts';
import { benchMemory } from './memory.ts';
import { benchPack } from './pack.ts';

const [part] = process.argv.slice(2);
if (part === undefined || part === 'pack') await benchPack();
if (part === undefined || part === 'calls') await benchCalls();
if (part === undefined || part === 'crawl') await benchCrawl();
if (part === 'memory') await benchMemory();
