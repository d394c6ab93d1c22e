import { performance } from 'node:perf_hooks';
import { type HttpSearcher, serveDocuments } from './http-engine.ts';
import { synthetic } from './latency.ts';
import { meanOf, measure } from './measures.ts';
import { tableOf } from './table.ts';
import { readTestSets, type TestSet } from './test-set.ts';

/**
 * `DOCSHELF_CORPUS=<folder> node bench/search/http.ts [quality|latency]`: docshelf's search through the real endpoint of the
 * built program, on bundles made of the sets' documents. Prints tables, writes nothing.
 */
const [part] = process.argv.slice(2);
const sets = readTestSets();
if (part !== 'latency') await benchQuality();
if (part !== 'quality') await benchLatency(10_000);

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

/** The chance that a query of the first kind has the higher score; equal scores count half. */
function areaUnderCurve(inside: readonly number[], outside: readonly number[]): number {
  const wins = inside.flatMap((one) => outside.map((other) => (one > other ? 1 : one === other ? 0.5 : 0)));
  return wins.reduce<number>((sum, win) => sum + win, 0) / wins.length;
}

/** One question after another, and then as many as one client can ask in ten seconds over eight connections. */
async function benchLatency(sections: number): Promise<void> {
  const queries = sets.flatMap((set) => set.queries).map(({ query }) => query);
  const rows: string[][] = [];
  for (const model of ['off', 'builtin'] as const) {
    const served = await serveDocuments(synthetic(sets, sections), { model });
    for (const query of queries) await served.search(query, 10);
    const times: number[] = [];
    for (const query of queries) {
      const from = performance.now();
      await served.search(query, 10);
      times.push(performance.now() - from);
    }
    times.sort((left, right) => left - right);
    const at = (share: number) => `${(times[Math.floor(times.length * share)] ?? 0).toFixed(1)} ms`;
    const perSecond = await throughput(served, queries);
    rows.push([model === 'off' ? 'keywords' : 'hybrid', at(0.5), at(0.99), perSecond.toFixed(0)]);
    await served.close();
  }
  console.log(`\n## Latency through the endpoint at ${sections.toLocaleString('en')} sections\n`);
  console.log(tableOf(['', 'p50', 'p99', 'queries a second'], rows));
}

async function throughput(served: HttpSearcher, queries: readonly string[]): Promise<number> {
  const from = performance.now();
  let asked = 0;
  const client = async (): Promise<void> => {
    // The limit of 10,000 an hour must not be what is measured.
    while (performance.now() - from < 10_000 && asked < 4_000) {
      await served.search(queries[asked++ % queries.length] ?? '', 10);
    }
  };
  await Promise.all(Array.from({ length: 8 }, client));
  return asked / ((performance.now() - from) / 1_000);
}
