import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuse, partsOf, scoreOf, votesOn } from '../../../src/search/query/rank.ts';

const legs = (
  normalised: Record<number, number>,
  cosines: Record<number, number> | null,
  exact: Record<number, 'title' | 'identifier'> = {},
) => ({
  hits: Object.entries(normalised).map(([key, value]) => {
    const section = Number(key);
    return { section, normalised: value, exact: exact[section] ?? null, names: 0 as const };
  }),
  nearest: cosines && nearestOf(Object.entries(cosines).map(([section, cosine]) => [Number(section), cosine])),
  known: 1,
  isShort: false,
});
const nearestOf = (cosines: Iterable<readonly [number, number]>) =>
  new Map(Array.from(cosines, ([section, cosine]) => [section, { cosine }]));
const order = (...args: Parameters<typeof legs>) => fuse(legs(...args), 100).map(({ section }) => section);

it('partsOf() lowers the meaning score of a section on a secondary page such as a change log', () => {
  const given = { ...legs({ 1: 1, 2: 1 }, { 1: 0.8, 2: 0.8 }), partOf: (section: number) => (section === 1 ? 0.7 : 1) };
  const [first, second] = [1, 2].map((section) => partsOf(section, given).meaning ?? 0);
  expect(first).toBeCloseTo(0.7 * (second ?? 0), 10);
});

describe('fuse() (ranking by keywords and meaning)', () => {
  it('ranks sections found by keywords and by meaning before sections found in only one of these ways', () => {
    expect(order({ 1: 1, 2: 0.9 }, { 1: 0.1, 2: 0.6, 3: 0.6 })).toEqual([2, 1, 3]);
  });

  it('keeps the order of the keyword scores if no model result is available', () => {
    expect(order({ 1: 0.2, 2: 1.4, 3: 0.7 }, null)).toEqual([2, 3, 1]);
  });

  it('orders sections by meaning (cosine) if keywords match no section', () => {
    expect(order({}, { 5: 0.5, 4: 0.7 })).toEqual([4, 5]);
  });

  it('orders sections by their keyword scores, even if all scores are very high', () => {
    expect(order({ 1: 3.1, 2: 3.4 }, null)).toEqual([2, 1]);
  });

  it('orders equal sections by their position in the site', () => {
    expect(order({ 9: 1, 3: 1 }, null)).toEqual([3, 9]);
  });

  it('ranks an exact title first and an exact identifier second, whatever the other scores', () => {
    const exact = { 2: 'identifier', 3: 'title' } as const;
    expect(order({ 1: 80, 2: 0.1, 3: 0.1 }, { 1: 1.5, 2: 0, 3: 0 }, exact)).toEqual([3, 2, 1]);
    expect(order({ 1: 80, 2: 0.1, 3: 0.1 }, null, exact)).toEqual([3, 2, 1]);
  });

  it('scores by keywords alone if the model can compare no section with the query', () => {
    expect(fuse(legs({ 1: 0.9 }, {}), 9)).toEqual(fuse(legs({ 1: 0.9 }, null), 9));
  });

  it('returns only sections that contain a word of the query or are near the query in meaning', () => {
    expect(order({ 1: 0.2 }, { 1: 0.1, 2: 0.39, 3: 0.41 })).toEqual([3, 1]);
    expect(order({}, { 2: 0.39 })).toEqual([]);
    const short = (cosine: number) => fuse({ ...legs({}, { 2: cosine }), isShort: true }, 1).length;
    expect([short(0.46), short(0.48)]).toEqual([0, 1]);
  });

  it('scores a section at least as high as its keyword score if the query is short', () => {
    const far = { ...legs({ 1: 1.1 }, { 1: 0.2 }), isShort: true };
    const byWords = fuse({ ...far, nearest: null }, 1)[0]?.score ?? 0;
    expect(byWords).toBeGreaterThan(0.8);
    expect(fuse(far, 1)[0]?.score).toBeCloseTo(byWords);
    expect(fuse({ ...far, isShort: false }, 1)[0]?.score).toBeLessThan(byWords);
  });

  it('weights keywords less if the site contains few words of the query', () => {
    const both = legs({ 1: 0.8 }, { 1: 0.1, 2: 0.6 });
    expect(fuse({ ...both, known: 1 }, 9)[0]?.section).toBe(1);
    expect(fuse({ ...both, known: 0.2 }, 9)[0]?.section).toBe(2);
  });

  it('returns only the best sections, up to the limit', () => {
    const all = fuse(legs({ 1: 0.3, 2: 1.4, 3: 0.7 }, { 3: 0.2 }), 9);
    expect(all.map(({ section }) => section)).toEqual([2, 3, 1]);
    expect(fuse(legs({ 1: 0.3, 2: 1.4, 3: 0.7 }, { 3: 0.2 }), 2)).toEqual(all.slice(0, 2));
  });

  it('returns no sections if there are no hits', () => {
    expect(order({}, {})).toEqual([]);
    expect(order({}, null)).toEqual([]);
  });

  it('returns scores from 0 to 1 in decreasing order, whatever the input', () => {
    const section = fc.integer({ min: 0, max: 50 });
    const scores = (value: fc.Arbitrary<number>) =>
      fc.array(fc.tuple(section, value), { maxLength: 30 }).map((each) => new Map(each));
    const number = (min: number, max: number) => fc.double({ min, max, noNaN: true });
    fc.assert(
      fc.property(
        scores(number(0, 8)),
        fc.option(scores(number(-1.5, 1.5)), { nil: null }),
        number(0, 1),
        fc.boolean(),
        (normalised, cosines, known, isShort) => {
          const hits = Array.from(normalised, ([section, value]) => {
            return { section, normalised: value, exact: section === 7 ? ('title' as const) : null, names: 0 as const };
          });
          const ranked = fuse({ hits, nearest: cosines && nearestOf(cosines), known, isShort }, 100);
          const near = Array.from(cosines ?? []).flatMap(([each, cosine]) =>
            cosine >= (isShort ? 0.47 : 0.4) ? [each] : [],
          );
          expect(new Set(ranked.map((each) => each.section)).size).toBe(new Set([...normalised.keys(), ...near]).size);
          ranked.forEach(({ score }, at) => {
            expect(score).toBeGreaterThanOrEqual(0);
            expect(score).toBeLessThanOrEqual(1);
            expect(score).toBeLessThanOrEqual(ranked[at - 1]?.score ?? 1);
          });
        },
      ),
      { examples: [[new Map(), new Map([[0, 0.4]]), 0, false]] },
    );
  });
});

describe('scoreOf() (score of a search result)', () => {
  it('increases with each of its inputs', () => {
    const middle = scoreOf(0.6, { known: 0.8, bestCosine: 0.4 });
    expect(scoreOf(0.7, { known: 0.8, bestCosine: 0.4 })).toBeGreaterThan(middle);
    expect(scoreOf(0.6, { known: 0.9, bestCosine: 0.4 })).toBeGreaterThan(middle);
    expect(scoreOf(0.6, { known: 0.8, bestCosine: 0.5 })).toBeGreaterThan(middle);
    expect(scoreOf(0.7, { known: 0.8, bestCosine: null })).toBeGreaterThan(
      scoreOf(0.6, { known: 0.8, bestCosine: null }),
    );
  });

  it('scores a clear hit above 0.8 and a clear miss below 0.2, with and without the model', () => {
    for (const bestCosine of [0.6, null]) expect(scoreOf(0.95, { known: 1, bestCosine })).toBeGreaterThan(0.8);
    for (const bestCosine of [0.2, null]) expect(scoreOf(0.4, { known: 0.6, bestCosine })).toBeLessThan(0.2);
  });
});

describe('votesOn() (whether the model can read a query)', () => {
  const latin = (language: string) => ['en', 'de', 'und-Latn'].includes(language);

  it.each(['鍵の交換', 'ключи', 'Astro の設定', '設定', '', '->', '😀'])(
    'returns false for the query "%s" if the model cannot read its script',
    (query) => {
      expect(votesOn(query, latin)).toBe(false);
    },
  );

  it.each(['rotate keys', 'naïve Bayes', 'the Ω operator in detail', '404'])(
    'returns true for the query "%s" if the model reads Latin script',
    (query) => {
      expect(votesOn(query, latin)).toBe(true);
    },
  );

  it('returns true for a query in any language if the model is multilingual', () => {
    expect(votesOn('鍵の交換', () => true)).toBe(true);
  });
});
