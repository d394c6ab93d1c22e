import { openBench } from '../../test/helpers/daemon.ts';
import { benchNeighbours } from './neighbours.ts';
import { benchSmall } from './small.ts';
import { benchTwelve } from './twelve.ts';

/**
 * Many sites in one daemon. DOCSHELF_CORPUS names the folder of real bundles. Without it, only small sites are measured.
 * DOCSHELF_BENCH_SITES sets their number, by default `100,1000`.
 */
const ends: (() => Promise<void>)[] = [];
const bench = openBench((end) => ends.push(end));
try {
  const { DOCSHELF_CORPUS: corpus, DOCSHELF_BENCH_SITES: sites = '100,1000' } = process.env;
  if (corpus !== undefined) {
    await benchTwelve(bench, corpus);
    await benchNeighbours(bench, corpus);
  }
  for (const count of sites.split(',').filter((text) => text !== '')) await benchSmall(bench, Number(count));
} finally {
  for (const end of ends) await end();
}
