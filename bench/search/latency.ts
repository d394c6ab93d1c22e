import { performance } from 'node:perf_hooks';
import type { Searcher } from './engine.ts';
import { buildIndex, openSearcher } from './keyword-engine.ts';
import { indexFts5 } from './peers.ts';
import { Random } from './random.ts';
import { tableOf } from './table.ts';
import type { Document, TestSet } from './test-set.ts';

const SEED = 9;
const SIZES = [10_000, 100_000];
const HITS = 10;
/** About 170 words, what a section of a documentation site has. */
const SECTION_CHARACTERS = 1_000;

/** Sections made of the sets' own sentences in another order, one at a time: 100,000 need no memory. */
export function* synthetic(sets: readonly TestSet[], count: number): Generator<Document> {
  const random = new Random(SEED);
  const documents = sets.flatMap((set) => set.documents);
  const titles = documents.map(({ title }) => title).filter((title) => title !== '');
  const sentences = documents.flatMap(({ text }) => text.split(/\n+|(?<=[.!?]) /)).filter((text) => text.length > 20);
  for (let at = 0; at < count; at += 1) {
    let text = '';
    while (text.length < SECTION_CHARACTERS) text += `${random.oneOf(sentences)}\n`;
    yield { id: `/page-${at}`, title: random.oneOf(titles), text };
  }
}

/** The natural-language questions of all sets against synthetic sections, beside plain FTS5 in the same run. */
export async function benchLatency(sets: readonly TestSet[]): Promise<void> {
  const queries = sets.flatMap((set) => set.queries).map(({ query }) => query);
  const rows: string[][] = [];
  for (const size of SIZES) {
    const from = performance.now();
    const { path, bytes, remove } = buildIndex(synthetic(sets, size));
    const builtMs = performance.now() - from;
    const searcher = openSearcher(path, remove);
    const ours = await timesOf(searcher, queries);
    await searcher.close();
    const plain = indexFts5(synthetic(sets, size));
    const theirs = await timesOf(plain, queries);
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

/** How long each query took, in milliseconds, rising. One round before warms both up. */
async function timesOf(searcher: Searcher, queries: readonly string[]): Promise<number[]> {
  for (const query of queries) await searcher.search(query, HITS);
  const times: number[] = [];
  for (const query of queries) {
    const from = performance.now();
    await searcher.search(query, HITS);
    times.push(performance.now() - from);
  }
  return times.sort((left, right) => left - right);
}

function quantile(rising: readonly number[], part: number): number {
  return rising[Math.min(rising.length - 1, Math.floor(rising.length * part))] ?? 0;
}
