import { RANKING } from '../../src/search/keyword/ranking.ts';
import type { Engine } from './engine.ts';
import { keywordEngine } from './keyword-engine.ts';
import { type Measures, meanOf, measure } from './measures.ts';
import { misspell } from './misspell.ts';
import { PEERS } from './peers.ts';
import { Random } from './random.ts';
import { tableOf } from './table.ts';
import type { Query, TestSet } from './test-set.ts';

const SEED = 4;
/** Misspellings per query, so that the mean does not depend on single words. */
const MISSPELLINGS = 5;

/** The keyword search with one changed part, to show the effect of that part. */
const ABLATIONS: readonly Engine[] = [
  keywordEngine('title counts as text', { ...RANKING, weights: { ...RANKING.weights, title: 0.1, headings: 0.1 } }),
  keywordEngine('title counts thrice', { ...RANKING, weights: { ...RANKING.weights, title: 3, headings: 3 } }),
  keywordEngine('no identifiers', { ...RANKING, weights: { ...RANKING.weights, identifiers: 0 }, part: 0 }),
  keywordEngine('no proximity', { ...RANKING, proximity: 0 }),
  keywordEngine('stop words count', { ...RANKING, stopWord: 1 }),
  keywordEngine('prefix on the last word', RANKING, true),
];

export async function benchQuality(sets: readonly TestSet[]): Promise<void> {
  const ours = keywordEngine('docshelf, keywords');
  console.log('\n## Quality: nDCG@10, R@10, MRR\n');
  await compare([...PEERS, ours], sets);
  console.log('\n## Ablations of the keyword leg\n');
  await compare([ours, ...ABLATIONS], sets);
  console.log('\n## One misspelled word a query: nDCG@10\n');
  await compareMisspelled(
    [ours, keywordEngine('without corrections', { ...RANKING, misspelled: [] }), ...PEERS.slice(0, 2)],
    sets,
  );
}

async function compare(engines: readonly Engine[], sets: readonly TestSet[]): Promise<void> {
  const rows: string[][] = [];
  for (const engine of engines) {
    const row = [engine.name];
    for (const set of sets) {
      const measures = await measureOn(engine, set, [set.queries]);
      row.push(
        (['ndcg10', 'recall10', 'mrr'] as const).map((of) => meanOf(measures[0] ?? [], of).toFixed(3)).join(' '),
      );
    }
    rows.push(row);
  }
  console.log(tableOf(['engine', ...sets.map((set) => set.name)], rows));
}

async function compareMisspelled(engines: readonly Engine[], sets: readonly TestSet[]): Promise<void> {
  const rows: string[][] = [];
  for (const engine of engines) {
    const row = [engine.name];
    for (const set of sets) {
      const random = new Random(SEED);
      const wrong = Array.from({ length: MISSPELLINGS }, () => set.queries)
        .flat()
        .map(({ query, relevant }) => ({ query: misspell(query, random), relevant }));
      const [right = [], misspelled = []] = await measureOn(engine, set, [set.queries, wrong]);
      const [before, after] = [meanOf(right, 'ndcg10'), meanOf(misspelled, 'ndcg10')];
      row.push(`${before.toFixed(3)} -> ${after.toFixed(3)} (${((after / before - 1) * 100).toFixed(1)} %)`);
    }
    rows.push(row);
  }
  console.log(tableOf(['engine', ...sets.map((set) => set.name)], rows));
}

async function measureOn(engine: Engine, set: TestSet, queries: readonly (readonly Query[])[]): Promise<Measures[][]> {
  const searcher = await engine.index(set.documents);
  const measures: Measures[][] = [];
  for (const each of queries) measures.push(await measure(searcher, each));
  await searcher.close();
  return measures;
}
