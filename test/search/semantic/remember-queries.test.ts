import { describe, expect, it } from 'vitest';
import type { Embedder } from '../../../src/search/ports.ts';
import { rememberQueries } from '../../../src/search/semantic/embedders.ts';

/** Records its texts. Each vector has 1 KiB. */
function embedder(): Embedder & { readonly queries: string[]; fails: boolean } {
  const queries: string[] = [];
  return {
    queries: queries,
    fails: false,
    digest: 'd',
    dims: 256,
    reads: (language) => language === 'en',
    async embedQuery(text) {
      queries.push(text);
      if (this.fails) throw new Error('no');
      return new Float32Array(256).fill(text.length);
    },
    embedPassages: async (texts) => texts.map(() => new Float32Array(256)),
  };
}

describe('rememberQueries() (cache of query vectors)', () => {
  it('embeds each distinct query once', async () => {
    const inner = embedder();
    const outer = rememberQueries(inner);
    expect([await outer.embedQuery('a'), await outer.embedQuery('bb'), await outer.embedQuery('a')]).toEqual(
      [1, 2, 1].map((length) => new Float32Array(256).fill(length)),
    );
    expect(inner.queries).toEqual(['a', 'bb']);
    expect([outer.digest, outer.dims, outer.reads('en'), outer.reads('ja')]).toEqual(['d', 256, true, false]);
  });

  it('embeds a query once if the query repeats before the first result arrives', async () => {
    const inner = embedder();
    const outer = rememberQueries(inner);
    const vectors = await Promise.all(['a', 'a', 'bb', 'a'].map((text) => outer.embedQuery(text)));
    expect([inner.queries, vectors.map(([first]) => first)]).toEqual([
      ['a', 'bb'],
      [1, 1, 2, 1],
    ]);
  });

  it('does not cache failures', async () => {
    const inner = embedder();
    const outer = rememberQueries(inner);
    inner.fails = true;
    await expect(outer.embedQuery('a')).rejects.toThrow('no');
    inner.fails = false;
    await outer.embedQuery('a');
    expect(inner.queries).toEqual(['a', 'a']);
  });

  it('removes the least recently used query if the cache is full', async () => {
    const inner = embedder();
    const outer = rememberQueries(inner);
    for (let at = 0; at < 5_000; at += 1) await outer.embedQuery(`query ${at}`);
    await outer.embedQuery('query 4999');
    expect(inner.queries).toHaveLength(5_000);
    await outer.embedQuery('query 0');
    expect(inner.queries).toHaveLength(5_001);
  });

  it('returns the vector of a query even if other queries fill the cache before the vector arrives', async () => {
    const inner = embedder();
    const { promise, resolve } = Promise.withResolvers<Float32Array>();
    const embedQuery = (text: string) => (text === 'slow' ? promise : inner.embedQuery(text));
    const outer = rememberQueries({ ...inner, embedQuery });
    const slow = outer.embedQuery('slow');
    for (let at = 0; at < 5_000; at += 1) await outer.embedQuery(`query ${at}`);
    resolve(new Float32Array(256).fill(7));
    expect(await slow).toEqual(new Float32Array(256).fill(7));
  });
});
