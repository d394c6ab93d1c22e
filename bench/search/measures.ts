import type { Searcher } from './engine.ts';
import type { Query } from './test-set.ts';

export interface Measures {
  readonly ndcg10: number;
  readonly recall10: number;
  readonly mrr: number;
}

const RANKS = 10;

/** Measures of each query, in the order of the queries. Their means are printed. */
export async function measure(searcher: Searcher, queries: readonly Query[]): Promise<Measures[]> {
  const measures: Measures[] = [];
  for (const { query, relevant } of queries) measures.push(measuresOf(await searcher.search(query, RANKS), relevant));
  return measures;
}

export function meanOf(measures: readonly Measures[], of: keyof Measures): number {
  return measures.reduce((sum, each) => sum + each[of], 0) / Math.max(1, measures.length);
}

/** Uses gains 2^grade - 1 and the discount log2(rank + 1), like the successors of trec_eval. */
export function measuresOf(ids: readonly string[], relevant: Readonly<Record<string, number>>): Measures {
  const grades = ids.slice(0, RANKS).map((id) => relevant[id] ?? 0);
  const wanted = Object.values(relevant).filter((grade) => grade > 0);
  const first = grades.findIndex((grade) => grade > 0);
  return {
    ndcg10: gainOf(grades) / gainOf(wanted.toSorted((left, right) => right - left).slice(0, RANKS)),
    recall10: grades.filter((grade) => grade > 0).length / wanted.length,
    mrr: first < 0 ? 0 : 1 / (first + 1),
  };
}

function gainOf(grades: readonly number[]): number {
  return grades.reduce((sum, grade, rank) => sum + (2 ** grade - 1) / Math.log2(rank + 2), 0);
}
