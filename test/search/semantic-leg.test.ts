import { describe, expect, it } from 'vitest';
import type { Embedder } from '../../src/search/ports.ts';
import { SectionFacts } from '../../src/search/section-facts.ts';
import { COMMON_SCALE, VectorIndex } from '../../src/search/semantic/index.ts';
import { SemanticLeg } from '../../src/search/semantic-leg.ts';

const DIMS = 32;
const vector = (sign: number) => new Float32Array(DIMS).fill(sign / Math.sqrt(DIMS));

/** Reads Latin script, and finds every query to be like section 0. */
const embedder = (fails = false): Embedder => ({
  digest: '',
  dims: DIMS,
  reads: (language) => ['en', 'und-Latn'].includes(language),
  embedQuery: async () => {
    if (fails) throw new Error('no answer');
    return vector(1);
  },
  embedPassages: async () => [],
});

/** Sections 0 and 1 in English, 2 in Japanese, 3 says nothing; a passage each, of which all but 1 are like the query. */
function leg(fails = false): SemanticLeg {
  const rows = [0, 0, 1, 2].map((language) => [language, 0, 9]);
  const facts = new SectionFacts({ languages: ['en', 'ja', null], rows });
  const values = Int8Array.from([1, -1, 1, 1].flatMap((sign) => Array.from({ length: DIMS }, () => sign * 90)));
  const vectors = { modelDigest: '', dims: DIMS, sections: Uint32Array.of(0, 1, 2, 3), values };
  return new SemanticLeg(embedder(fails), new VectorIndex(vectors, COMMON_SCALE), facts);
}
const sectionsOf = async (...given: Parameters<SemanticLeg['nearest']>) => [
  ...((await leg().nearest(...given))?.keys() ?? []),
];

describe('SemanticLeg.nearest()', () => {
  it('finds sections that the model may judge', async () => {
    expect(await sectionsOf('keys', [], { allowed: null, limit: 2 })).toEqual([0, 3]);
  });

  it('judges what keywords found too, but not what the model cannot read', async () => {
    expect(await sectionsOf('keys', [0, 1, 2], { allowed: null, limit: 1 })).toEqual([0, 1]);
    const far = (await leg().nearest('keys', [1], { allowed: null, limit: 1 }))?.get(1);
    expect(far?.cosine).toBeLessThan(0);
  });

  it('finds nothing that the filter forbids', async () => {
    expect(await sectionsOf('keys', [], { allowed: Uint8Array.of(0, 1, 1, 1), limit: 9 })).toEqual([3, 1]);
  });

  it('has no vote on a query that the model cannot read, or cannot be asked', async () => {
    expect(await leg().nearest('鍵の交換', [0], { allowed: null, limit: 9 })).toBeNull();
    expect(await leg(true).nearest('keys', [0], { allowed: null, limit: 9 })).toBeNull();
  });
});
