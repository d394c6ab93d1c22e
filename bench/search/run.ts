/**
 * `DOCSHELF_CORPUS=<folder> node bench/search/run.ts [quality|latency]`: prints tables, writes nothing. Run `npm ci` in this
 * folder to install the other engines.
 */
import { benchLatency } from './latency.ts';
import { benchQuality } from './quality.ts';
import { readTestSets } from './test-set.ts';

const [part] = process.argv.slice(2);
const sets = readTestSets();
if (part !== 'latency') await benchQuality(sets);
if (part !== 'quality') await benchLatency(sets);
