/**
 * `DOCSHELF_CORPUS=<folder> node bench/search/run.ts [quality|latency]`: prints tables, writes nothing.
 * The engines that are measured beside ours are installed with `npm ci` in this folder.
 */
import { benchLatency } from './latency.ts';
import { benchQuality } from './quality.ts';
import { readTestSets } from './test-set.ts';

const [part] = process.argv.slice(2);
const sets = readTestSets();
if (part !== 'latency') await benchQuality(sets);
if (part !== 'quality') await benchLatency(sets);
