import { afterAll, describe, expect, it } from 'vitest';
import { corpus, whyNoCorpus } from '../helpers/corpus.ts';
import { openBench } from '../helpers/daemon.ts';
import { IndexedBundle } from './indexed-bundle.ts';
import { pageOf, readManuals } from './questions.ts';

const RESULTS_MAX = 30;
/** Measured on 29 November: 67 of 77 questions with the expected page in first place, mean reciprocal rank 0.928. */
const LEAST = { firsts: 67, reciprocal: 0.925 };

describe.skipIf(corpus === undefined)(`search in six manuals${whyNoCorpus}`, () => {
  const bench = openBench(afterAll);

  it('ranks the expected page first for most questions by keywords alone', { timeout: 300_000 }, async () => {
    const places: number[] = [];
    for (const { archive, language, questions } of readManuals()) {
      const manual = await IndexedBundle.importFrom(bench, archive);
      await manual.build();
      for (const { query, pages } of questions) {
        const results = await manual.search(query, language ?? null, RESULTS_MAX);
        places.push(
          [...new Set(results.map(({ path }) => pageOf(path)))].findIndex((page) => pages.includes(page)) + 1,
        );
      }
    }
    const firsts = places.filter((place) => place === 1).length;
    const reciprocal = places.reduce((sum, place) => sum + (place > 0 ? 1 / place : 0), 0) / places.length;
    console.log(`figure: manuals, keywords only, ${firsts}/${places.length}, MRR ${reciprocal.toFixed(3)}`);
    expect(firsts).toBeGreaterThanOrEqual(LEAST.firsts);
    expect(reciprocal).toBeGreaterThanOrEqual(LEAST.reciprocal);
  });
});
