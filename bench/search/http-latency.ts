import { cpus } from 'node:os';
import { performance } from 'node:perf_hooks';
import { quantile, timesOf } from './latency.ts';
import { indexFts5 } from './peers.ts';
import { pin, type ServedBundle, serveBundle } from './served-bundle.ts';
import { synthetic } from './synthetic.ts';
import { packSynthetic } from './synthetic-bundle.ts';
import { tableOf } from './table.ts';
import type { TestSet } from './test-set.ts';

const SIZES = [10_000, 100_000];
const HITS = 10;
/** The median of so many rounds is printed: the machine may be busy with other work. */
const ROUNDS = 3;
/** Together with what latency asks, below the 10,000 requests an hour that an organization has. */
const ASKED_A_ROUND = 2_000;
const CLIENTS = 8;

/**
 * The natural-language questions of all sets through the endpoint, against synthetic sections and beside plain FTS5 (in this
 * process, so without the way over HTTP) in the same run. First one question after another; then eight clients at once, the daemon
 * on one core and they on another.
 */
export async function benchHttpLatency(sets: readonly TestSet[]): Promise<void> {
  const queries = sets.flatMap((set) => set.queries).map(({ query }) => query);
  const latencies: string[][] = [];
  const throughputs: string[][] = [];
  for (const size of SIZES) {
    const plain = indexFts5(synthetic(sets, size));
    const theirs = await timesOf(plain, queries, HITS);
    await plain.close();
    for (const model of ['off', 'builtin'] as const) {
      const served = await serveBundle((to) => packSynthetic(sets, size, to), { model });
      const name = [model === 'off' ? 'keywords' : 'hybrid', size.toLocaleString('en')];
      const rounds: number[][] = [];
      for (let round = 0; round < ROUNDS; round += 1) rounds.push(await timesOf(served, queries, HITS));
      const figures = [0.5, 0.99].flatMap((part) => {
        const [our, their] = [median(rounds.map((times) => quantile(times, part))), quantile(theirs, part)];
        return [`${our.toFixed(1)} ms`, `${their.toFixed(1)} ms`, (our / their).toFixed(2)];
      });
      latencies.push([...name, ...figures]);
      throughputs.push([...name, ...(await throughputOf(served, queries))]);
      await served.close();
    }
  }
  console.log(`\n## Latency through the endpoint, median of ${ROUNDS} rounds; vectors of sections are made up\n`);
  console.log(tableOf(['', 'sections', 'p50', 'FTS5', 'ratio', 'p99', 'FTS5', 'ratio'], latencies));
  console.log(`\n## Queries a second through the endpoint, ${CLIENTS} clients, median of ${ROUNDS} rounds\n`);
  console.log(tableOf(['', 'sections', 'queries a second', 'the daemon has'], throughputs));
}

async function throughputOf(served: ServedBundle, queries: readonly string[]): Promise<[string, string]> {
  const last = cpus().length - 1;
  const isPinned = last > 0 && pin(process.pid, '1') && served.pinTo('0');
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const from = performance.now();
    let asked = 0;
    const client = async (): Promise<void> => {
      while (asked < ASKED_A_ROUND) await served.search(queries[asked++ % queries.length] ?? '', HITS);
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    rounds.push(asked / ((performance.now() - from) / 1_000));
  }
  // The next daemon inherits where this process may run.
  if (isPinned) pin(process.pid, `0-${last}`);
  return [median(rounds).toFixed(0), isPinned ? 'one core' : 'the machine, with its clients'];
}

function median(figures: readonly number[]): number {
  return quantile(
    figures.toSorted((left, right) => left - right),
    0.5,
  );
}
