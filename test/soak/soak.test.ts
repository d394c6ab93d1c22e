import { afterAll, describe, it } from 'vitest';
import { soakOverSwaps } from '../corpus/swap-soak.ts';
import { corpus, whyNoCorpus } from '../helpers/corpus.ts';
import { openBench } from '../helpers/daemon.ts';

/** The corpus suite's soak, ten times as long unless DOCSHELF_SOAK says how many times. */
describe.skipIf(corpus === undefined)(`the daemon under load for long${whyNoCorpus}`, () => {
  const bench = openBench(afterAll);
  const times = Number(process.env.DOCSHELF_SOAK ?? 10);

  it('answers without a failure or a mix over a thousand swaps', async () => {
    await soakOverSwaps(bench, times);
  });
});
