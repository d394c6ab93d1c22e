import { performance } from 'node:perf_hooks';
import { buildIndex, openSearcher } from './keyword-engine.ts';
import { indexFts5 } from './peers.ts';
import { synthetic } from './synthetic.ts';
import { tableOf } from './table.ts';
import type { TestSet } from './test-set.ts';

const SIZES = [10_000, 100_000];
const HITS = 10;

/** Natural-language questions of all sets on synthetic sections, and plain FTS5 in the same run. */
export async function benchLatency(sets: readonly TestSet[]): Promise<void> {
  const queries = sets.flatMap((set) => set.queries).map(({ query }) => query);
  const rows: string[][] = [];
  for (const size of SIZES) {
    const from = performance.now();
    const { path, bytes, remove } = buildIndex(synthetic(sets, size));
    const builtMs = performance.now() - from;
    const searcher = openSearcher(path, remove);
    await timesOf(searcher, queries, HITS);
    const ours = await timesOf(searcher, queries, HITS);
    await searcher.close();
    const plain = indexFts5(synthetic(sets, size));
    await timesOf(plain, queries, HITS);
    const theirs = await timesOf(plain, queries, HITS);
    await plain.close();
    rows.push([
      size.toLocaleString('en'),
      `${(builtMs / 1_000).toFixed(1)} s, ${(bytes / 1e6).toFixed(0)} MB`,
      ...[0.5, 0.99].flatMap((part) => {
        const [our, their] = [quantile(ours, part), quantile(theirs, part)];
        return [`${our.toFixed(2)} ms`, `${their.toFixed(2)} ms`, `${(our / their).toFixed(2)}`];
      }),
    ]);
  }
  console.log('\n## Latency of questions, in this process\n');
  console.log(tableOf(['sections', 'built', 'p50', 'FTS5', 'ratio', 'p99', 'FTS5', 'ratio'], rows));
}

/** A search in this process or over HTTP. */
interface Asked {
  search(query: string, limit: number): unknown;
}

/** Sorted duration of each query in milliseconds, after a round that warms up. */
export async function timesOf(asked: Asked, queries: readonly string[], hits: number): Promise<number[]> {
  const times: number[] = [];
  for (const query of queries) {
    const from = performance.now();
    await asked.search(query, hits);
    times.push(performance.now() - from);
  }
  return times.sort((left, right) => left - right);
}

export function quantile(rising: readonly number[], part: number): number {
  return rising[Math.min(rising.length - 1, Math.floor(rising.length * part))] ?? 0;
}
