import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { corpus, whyNoCorpus } from '../helpers/corpus.ts';
import { openBench } from '../helpers/daemon.ts';
import { IndexedBundle } from './indexed-bundle.ts';
import { manualQuestions } from './questions.ts';

/** Without stems by language, keywords had 28 and 22 of 40 questions right. */
const FIRSTS_MIN = { es: 31, ru: 32 };

describe.skipIf(corpus === undefined)(`search in vitepress-docs.zip${whyNoCorpus}`, () => {
  const bench = openBench(afterAll);
  let bundle: IndexedBundle;

  beforeAll(async () => {
    bundle = await IndexedBundle.importFrom(bench, 'vitepress-docs.zip');
    await bundle.build();
  }, 300_000);

  async function firsts(language: 'es' | 'ru'): Promise<number> {
    let right = 0;
    for (const { query, page } of manualQuestions(language)) {
      const [first] = await bundle.search(query, language, 1);
      if (first?.path.replace(/#.*$/, '').replace(/(?:\.html|\/)$/, '') === page) right += 1;
    }
    return right;
  }

  it.each(['es', 'ru'] as const)(
    'ranks the right page first with keywords alone, for questions with inflected words in the language %s',
    async (language) => {
      const right = await firsts(language);
      console.log(`figure: questions ${language}, keywords only, ${right}/40`);
      expect(right).toBeGreaterThanOrEqual(FIRSTS_MIN[language]);
    },
  );

  it('ranks the right page first with keywords and meaning, for questions with inflected words', {
    timeout: 900_000,
  }, async () => {
    await bundle.embed();
    for (const language of ['es', 'ru'] as const) {
      const right = await firsts(language);
      console.log(`figure: questions ${language}, both legs, ${right}/40`);
      expect(right).toBeGreaterThanOrEqual(FIRSTS_MIN[language] - 1);
    }
  });
});
