import { afterAll, describe, it } from 'vitest';
import { soakOverSwaps } from '../corpus/swap-soak.ts';
import { corpus, whyNoCorpus } from '../helpers/corpus.ts';
import { openBench } from '../helpers/daemon.ts';

/** The soak of the corpus suite, 50 times as long. DOCSHELF_SOAK sets another factor than 10. */
describe.skipIf(corpus === undefined)(`daemon under long load${whyNoCorpus}`, () => {
  const bench = openBench(afterAll);
  const times = Number(process.env.DOCSHELF_SOAK ?? 10);

  it('responds without failures or mixed versions over a thousand swaps', async () => {
    await soakOverSwaps(bench, 5 * times);
  });
});
