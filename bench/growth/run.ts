import { loadavg } from 'node:os';
import { openBench } from '../../test/helpers/daemon.ts';
import { tableOf } from '../search/table.ts';
import { type Growth, type Import, measureGrowth } from './measure.ts';
import { startStandIn } from './stand-in.ts';

/**
 * `node bench/growth/run.ts [pages...]`, with a build: memory, time and disk of a site by its pages, by default 1,000 and 10,000
 * (or DOCSHELF_BENCH_PAGES=1000,10000). DOCSHELF_BENCH_MODEL: `off`, `stand-in` or both. Linux only.
 */
const { DOCSHELF_BENCH_PAGES: fromEnvironment = '1000,10000', DOCSHELF_BENCH_MODEL: models = 'off,stand-in' } =
  process.env;
const given = process.argv.slice(2);
const sizes = (given.length > 0 ? given : fromEnvironment.split(',')).map(Number);

type Row = readonly [what: string, of: (growth: Growth) => number, digits: number, isPerPage: boolean];

const importRows = (name: string, of: (growth: Growth) => Import): Row[] => [
  [`${name}: to the swap, s`, (growth) => of(growth).toSwapSeconds, 1, true],
  [`${name}: to its index, s`, (growth) => of(growth).toIndexSeconds, 1, true],
  [`${name}: to all vectors, s`, (growth) => of(growth).toEmbeddedSeconds, 1, true],
  [`${name}: processor time of the daemon, s`, (growth) => of(growth).daemonSeconds, 1, true],
  [`${name}: of index and embedding, s`, (growth) => of(growth).searchSeconds, 1, true],
  [`${name}: of all children, forms compressed among them, s`, (growth) => of(growth).childrenSeconds, 1, true],
  [`${name}: peak memory of the daemon, MiB`, (growth) => of(growth).daemonMiB, 0, false],
  [`${name}: of a child, MiB`, (growth) => of(growth).childrenMiB, 0, false],
  [`${name}: of both at one moment, MiB`, (growth) => of(growth).sumMiB, 0, false],
  [`${name}: archive, MiB`, (growth) => of(growth).archiveMiB, 1, true],
  [`${name}: data folder, MiB`, (growth) => of(growth).diskMiB, 0, true],
  [`${name}: p99 of a page meanwhile, ms`, (growth) => of(growth).p99Ms, 1, false],
];

const ROWS: readonly Row[] = [
  ['idle: p99 of a page, ms', ({ idleP99Ms }) => idleP99Ms, 1, false],
  ...importRows('first', ({ first }) => first),
  ...importRows('5 % changed', ({ second }) => second),
  [
    '5 % changed / first: processor time, index and embedding',
    ({ first, second }) => second.searchSeconds / first.searchSeconds,
    3,
    false,
  ],
  ['5 % changed / first: processor time, all', (g) => total(g.second) / total(g.first), 3, false],
  ['restart to ready, s', ({ restartSeconds }) => restartSeconds, 1, true],
  ['restarted: memory, MiB', ({ readyMiB }) => readyMiB, 0, false],
  ['500 pages and 50 searches later, MiB', ({ servingMiB }) => servingMiB, 0, false],
];

const total = ({ daemonSeconds, childrenSeconds }: Import): number => daemonSeconds + childrenSeconds;

/** Growth per page of the largest site relative to the smallest. 1 is proportional, less is better. */
function table(all: readonly Growth[]): string {
  const [smallest, largest] = [all[0], all.at(-1)];
  const rows = ROWS.map(([what, of, digits, isPerPage]) => {
    const cells = all.map((growth) => of(growth).toFixed(digits));
    if (!isPerPage || all.length < 2 || smallest === undefined || largest === undefined) return [what, ...cells, ''];
    const growth = of(largest) / of(smallest) / (largest.pages / smallest.pages);
    return [what, ...cells, Number.isFinite(growth) ? growth.toFixed(2) : ''];
  });
  return tableOf(['', ...all.map(({ pages }) => `${pages.toLocaleString('en')} pages`), 'to proportion'], rows);
}

for (const model of models.split(',')) {
  const standIn = model === 'off' ? null : await startStandIn();
  const all: Growth[] = [];
  for (const pages of sizes) {
    const ends: (() => Promise<void>)[] = [];
    const bench = openBench((end) => ends.push(end));
    try {
      all.push(await measureGrowth(bench, pages, standIn?.url ?? null));
    } finally {
      for (const end of ends) await end();
    }
    console.error(`${pages} pages, model ${model}: done, load ${loadavg()[0]?.toFixed(1)}`);
  }
  standIn?.close();
  console.log(`\nModel: ${model}, load ${loadavg()[0]?.toFixed(1)}\n\n${table(all)}`);
}
