import { afterAll, describe, it } from 'vitest';
import { corpus, whyNoCorpus } from '../helpers/corpus.ts';
import { openBench } from '../helpers/daemon.ts';
import { soakOverSwaps } from './swap-soak.ts';

describe.skipIf(corpus === undefined)(`the daemon under load${whyNoCorpus}`, () => {
  const bench = openBench(afterAll);
  const times = Number(process.env.DOCSHELF_SOAK ?? 1);

  it('serves 4,000 requests over 20 swaps without a failure or mixed versions', {
    timeout: times * 300_000,
  }, async () => {
    await soakOverSwaps(bench, times);
  });
});
