import { type HttpSearcher, serveDocuments } from './http-engine.ts';
import { benchHttpLatency } from './http-latency.ts';
import { meanOf, measure } from './measures.ts';
import { tableOf } from './table.ts';
import { readTestSets, type TestSet } from './test-set.ts';

/**
 * `DOCSHELF_CORPUS=<folder> node bench/search/http.ts [quality | latency [sections...]]`: docshelf's search through the endpoint
 * of the built program, on bundles of the sets' documents. Prints tables, writes nothing.
 */
const [part, ...sizes] = process.argv.slice(2);
const sets = readTestSets();
if (part !== 'latency') await benchQuality();
if (part !== 'quality') await benchHttpLatency(sets, sizes.map(Number));

async function benchQuality(): Promise<void> {
  const rows: string[][] = [];
  const best = new Map<string, number[]>();
  for (const model of ['off', 'builtin'] as const) {
    const row = [model === 'off' ? 'docshelf over HTTP, keywords' : 'docshelf over HTTP, hybrid'];
    for (const set of sets) {
      const served = await serveDocuments(set.documents, { model });
      const ids = async (query: string, limit: number) => (await served.search(query, limit)).map(({ id }) => id);
      const measures = await measure({ search: ids, close: () => undefined }, set.queries);
      row.push((['ndcg10', 'recall10', 'mrr'] as const).map((of) => meanOf(measures, of).toFixed(3)).join(' '));
      if (model === 'builtin')
        for (const asked of sets) best.set(`${asked.name} > ${set.name}`, await bestScores(served, asked));
      await served.close();
    }
    rows.push(row);
  }
  console.log('\n## Quality through the endpoint: nDCG@10, R@10, MRR\n');
  console.log(tableOf(['engine', ...sets.map(({ name }) => name)], rows));
  console.log('\n## In scope or not, by the best score: area under the curve\n');
  const pairs = sets.flatMap((on) => sets.filter((asked) => asked !== on).map((asked) => [asked, on] as const));
  const aucRows = pairs.map(([asked, on]) => {
    const inside = best.get(`${on.name} > ${on.name}`) ?? [];
    const outside = best.get(`${asked.name} > ${on.name}`) ?? [];
    return [`${asked.name} > ${on.name}`, areaUnderCurve(inside, outside).toFixed(3)];
  });
  console.log(tableOf(['queries > documents', 'AUC'], aucRows));
}

async function bestScores(served: HttpSearcher, { queries }: TestSet): Promise<number[]> {
  const scores: number[] = [];
  for (const { query } of queries) scores.push((await served.search(query, 1))[0]?.score ?? 0);
  return scores;
}

/** Probability that a query of the first kind has the higher score. Equal scores count half. */
function areaUnderCurve(inside: readonly number[], outside: readonly number[]): number {
  const wins = inside.flatMap((one) => outside.map((other) => (one > other ? 1 : one === other ? 0.5 : 0)));
  return wins.reduce<number>((sum, win) => sum + win, 0) / wins.length;
}
