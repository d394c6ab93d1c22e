/** `node bench/export/run.ts [pack|calls]`, on a build: prints tables, writes nothing but temporary files. */
import { benchCalls } from './calls.ts';
import { benchPack } from './pack.ts';

const [part] = process.argv.slice(2);
if (part === undefined || part === 'pack') await benchPack();
if (part === undefined || part === 'calls') await benchCalls();
