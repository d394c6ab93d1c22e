import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuse, scoreOf, votesOn } from '../../../src/search/query/rank.ts';

const legs = (
  normalised: Record<number, number>,
  cosines: Record<number, number> | null,
  exact: Record<number, 'title' | 'identifier'> = {},
) => ({
  hits: Object.entries(normalised).map(([key, value]) => {
    const section = Number(key);
    return { section, normalised: value, exact: exact[section] ?? null };
  }),
  nearest: cosines && nearestOf(Object.entries(cosines).map(([section, cosine]) => [Number(section), cosine])),
  known: 1,
});
const nearestOf = (cosines: Iterable<readonly [number, number]>) =>
  new Map(Array.from(cosines, ([section, cosine]) => [section, { cosine }]));
const order = (...given: Parameters<typeof legs>) => fuse(legs(...given), 100).map(({ section }) => section);

describe('fuse()', () => {
  it('puts what both legs find before what one finds', () => {
    expect(order({ 1: 1, 2: 0.9 }, { 1: 0.1, 2: 0.6, 3: 0.6 })).toEqual([2, 1, 3]);
  });

  it('keeps the order of the keywords where the model has no vote', () => {
    expect(order({ 1: 0.2, 2: 1.4, 3: 0.7 }, null)).toEqual([2, 3, 1]);
  });

  it('keeps the order of the cosines where no keyword hits', () => {
    expect(order({}, { 5: 0.3, 4: 0.7 })).toEqual([4, 5]);
  });

  it('puts the section first that stands first in the site, of equals', () => {
    expect(order({ 9: 1, 3: 1 }, null)).toEqual([3, 9]);
  });

  it('puts what is titled as the query first, then what has it as its name, whatever the legs say', () => {
    const exact = { 2: 'identifier', 3: 'title' } as const;
    expect(order({ 1: 80, 2: 0.1, 3: 0.1 }, { 1: 1.5, 2: 0, 3: 0 }, exact)).toEqual([3, 2, 1]);
    expect(order({ 1: 80, 2: 0.1, 3: 0.1 }, null, exact)).toEqual([3, 2, 1]);
  });

  it('scores as by keywords alone where the model may judge no section', () => {
    expect(fuse(legs({ 1: 0.9 }, {}), 9)).toEqual(fuse(legs({ 1: 0.9 }, null), 9));
  });

  it('trusts the keywords less where the site knows little of the query', () => {
    const both = legs({ 1: 0.8 }, { 1: 0.1, 2: 0.6 });
    expect(fuse({ ...both, known: 1 }, 9)[0]?.section).toBe(1);
    expect(fuse({ ...both, known: 0.2 }, 9)[0]?.section).toBe(2);
  });

  it('gives the best so many', () => {
    const all = fuse(legs({ 1: 0.3, 2: 1.4, 3: 0.7 }, { 3: 0.2 }), 9);
    expect(all.map(({ section }) => section)).toEqual([2, 3, 1]);
    expect(fuse(legs({ 1: 0.3, 2: 1.4, 3: 0.7 }, { 3: 0.2 }), 2)).toEqual(all.slice(0, 2));
  });

  it('finds nothing in nothing', () => {
    expect(order({}, {})).toEqual([]);
    expect(order({}, null)).toEqual([]);
  });

  it('gives scores of 0 to 1 that fall along the order, whatever the legs say', () => {
    const section = fc.integer({ min: 0, max: 50 });
    const scores = (value: fc.Arbitrary<number>) =>
      fc.array(fc.tuple(section, value), { maxLength: 30 }).map((each) => new Map(each));
    const number = (min: number, max: number) => fc.double({ min, max, noNaN: true });
    fc.assert(
      fc.property(
        scores(number(0, 8)),
        fc.option(scores(number(-1.5, 1.5)), { nil: null }),
        number(0, 1),
        (normalised, cosines, known) => {
          const hits = Array.from(normalised, ([section, value]) => {
            return { section, normalised: value, exact: section === 7 ? ('title' as const) : null };
          });
          const ranked = fuse({ hits, nearest: cosines && nearestOf(cosines), known }, 100);
          expect(new Set(ranked.map((each) => each.section)).size).toBe(
            new Set([...normalised.keys(), ...(cosines?.keys() ?? [])]).size,
          );
          ranked.forEach(({ score }, at) => {
            expect(score).toBeGreaterThanOrEqual(0);
            expect(score).toBeLessThanOrEqual(1);
            expect(score).toBeLessThanOrEqual(ranked[at - 1]?.score ?? 1);
          });
        },
      ),
    );
  });
});

describe('scoreOf()', () => {
  it('rises with each of what it is given', () => {
    const middle = scoreOf(0.6, { known: 0.8, bestCosine: 0.4 });
    expect(scoreOf(0.7, { known: 0.8, bestCosine: 0.4 })).toBeGreaterThan(middle);
    expect(scoreOf(0.6, { known: 0.9, bestCosine: 0.4 })).toBeGreaterThan(middle);
    expect(scoreOf(0.6, { known: 0.8, bestCosine: 0.5 })).toBeGreaterThan(middle);
    expect(scoreOf(0.7, { known: 0.8, bestCosine: null })).toBeGreaterThan(
      scoreOf(0.6, { known: 0.8, bestCosine: null }),
    );
  });

  it('calls a clear hit likely and a clear miss unlikely, with the model and without', () => {
    for (const bestCosine of [0.6, null]) expect(scoreOf(0.95, { known: 1, bestCosine })).toBeGreaterThan(0.8);
    for (const bestCosine of [0.2, null]) expect(scoreOf(0.4, { known: 0.6, bestCosine })).toBeLessThan(0.2);
  });
});

describe('votesOn()', () => {
  const latin = (language: string) => ['en', 'de', 'und-Latn'].includes(language);

  it.each(['鍵の交換', 'ключи', 'Astro の設定', '設定'])('gives no vote to a model that cannot read "%s"', (query) => {
    expect(votesOn(query, latin)).toBe(false);
  });

  it.each(['rotate keys', 'naïve Bayes', 'the Ω operator in detail', '404', '', '😀'])(
    'lets it vote on "%s"',
    (query) => {
      expect(votesOn(query, latin)).toBe(true);
    },
  );

  it('lets a multilingual model vote on all', () => {
    expect(votesOn('鍵の交換', () => true)).toBe(true);
  });
});
