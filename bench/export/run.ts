/** `node bench/export/run.ts [pack]`: prints tables, writes nothing but temporary files. */
import { benchPack } from './pack.ts';

const [part] = process.argv.slice(2);
if (part === undefined || part === 'pack') await benchPack();
