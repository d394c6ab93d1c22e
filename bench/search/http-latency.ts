import { cpus } from 'node:os';
import { performance } from 'node:perf_hooks';
import { median } from '../latencies.ts';
import { quantile, timesOf } from './latency.ts';
import { indexFts5 } from './peers.ts';
import { pin, type ServedBundle, serveBundle } from './served-bundle.ts';
import { synthetic } from './synthetic.ts';
import { packSynthetic } from './synthetic-bundle.ts';
import { tableOf } from './table.ts';
import type { TestSet } from './test-set.ts';

const SIZES = [10_000, 100_000];
const HITS = 10;
/** Number of rounds. Prints the median, because the machine may be busy. */
const ROUNDS = 3;
/** Requests per round. Their sum stays under the organization's 10,000 requests per hour. */
const ASKED_A_ROUND = 500;
const CLIENTS = 8;

/**
 * Questions through the endpoint on synthetic sections, and plain FTS5 (in this process, so without HTTP) in the same run. First
 * sequential questions, then eight concurrent clients, with the daemon and the clients on separate cores. The engine caches the
 * model's vector of a question, so each question is measured as a new one and as a repeated one.
 */
export async function benchHttpLatency(sets: readonly TestSet[], sizes: readonly number[]): Promise<void> {
  const questions = new Questions(sets.flatMap((set) => set.queries).map(({ query }) => query));
  const latencies: string[][] = [];
  const throughputs: string[][] = [];
  for (const size of sizes.length > 0 ? sizes : SIZES) {
    const plain = indexFts5(synthetic(sets, size));
    await timesOf(plain, questions.again, HITS);
    const theirs = await timesOf(plain, questions.again, HITS);
    await plain.close();
    for (const model of ['off', 'builtin'] as const) {
      const served = await serveBundle((to) => packSynthetic(sets, size, to), { model });
      await timesOf(served, questions.again, HITS);
      for (const kind of model === 'off' ? (['again'] as const) : (['first', 'again'] as const)) {
        const name = [NAMES[model === 'off' ? model : kind], size.toLocaleString('en')];
        const rounds: number[][] = [];
        for (let round = 0; round < ROUNDS; round += 1) rounds.push(await timesOf(served, questions[kind], HITS));
        const figures = [0.5, 0.99].flatMap((part) => {
          const [our, their] = [median(rounds.map((times) => quantile(times, part))), quantile(theirs, part)];
          return [`${our.toFixed(1)} ms`, `${their.toFixed(1)} ms`, (our / their).toFixed(2)];
        });
        latencies.push([...name, ...figures]);
        throughputs.push([...name, ...(await throughputOf(served, () => questions[kind]))]);
      }
      await served.close();
    }
  }
  console.log(`\n## Latency through the endpoint, median of ${ROUNDS} rounds; vectors of sections are made up\n`);
  console.log(tableOf(['', 'sections', 'p50', 'FTS5', 'ratio', 'p99', 'FTS5', 'ratio'], latencies));
  console.log(`\n## Queries a second through the endpoint, ${CLIENTS} clients, median of ${ROUNDS} rounds\n`);
  console.log(tableOf(['', 'sections', 'queries a second', 'the daemon has'], throughputs));
}

const NAMES = { off: 'keywords', first: 'hybrid, asked first', again: 'hybrid, asked again' };

export class Questions {
  readonly again: readonly string[];
  #variants = 1;

  constructor(queries: readonly string[]) {
    this.again = queries;
  }

  /** The same words in new texts: more spaces between the first two. */
  get first(): readonly string[] {
    const spaces = ' '.repeat(++this.#variants);
    return this.again.map((query) => query.replace(' ', spaces));
  }
}

async function throughputOf(served: ServedBundle, questions: () => readonly string[]): Promise<[string, string]> {
  const last = cpus().length - 1;
  const isPinned = last > 0 && pin(process.pid, '1') && served.pinTo('0');
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const asked: string[] = [];
    while (asked.length < ASKED_A_ROUND) asked.push(...questions());
    const waiting = asked.slice(0, ASKED_A_ROUND);
    const from = performance.now();
    const client = async (): Promise<void> => {
      for (let query = waiting.pop(); query !== undefined; query = waiting.pop()) await served.search(query, HITS);
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    rounds.push(ASKED_A_ROUND / ((performance.now() - from) / 1_000));
  }
  // The next daemon inherits the affinity of this process, which continues with other measurements.
  if (isPinned) {
    pin(process.pid, `0-${last}`);
    served.pinTo(`0-${last}`);
  }
  return [median(rounds).toFixed(0), isPinned ? 'one core' : 'the machine, with its clients'];
}
