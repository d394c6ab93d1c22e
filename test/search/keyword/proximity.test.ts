import { describe, expect, it } from 'vitest';
import { Proximity, sequenceOf } from '../../../src/search/keyword/ranking.ts';
import { found, indexOf } from './index-folder.ts';

const QUERY = new Proximity([
  { terms: ['rotate', 'rotates'], rarity: 2 },
  { terms: ['admin'], rarity: 5 },
  { terms: ['key'], rarity: 3 },
]);
/** Score of nearness for a text of one column. Each occurrence counts one. */
const nearness = (text: string) => QUERY.of(sequenceOf([text.split(' ')]), (count) => count);

describe('Proximity (score for the distance of query words in a text)', () => {
  it.each<[string, number]>([
    ['rotate admin', 2],
    ['rotates admin', 2],
    ['rotate x admin', 2 / 2],
    ['rotate x x x admin', 2 / 4],
    ['rotate x x x x admin', 0],
    ['admin rotate', 0],
    ['rotate admin key', 2 + 3],
    ['rotate key', 0],
    ['admin key admin key', 3 + 3 + 3 / 3],
    ['', 0],
  ])(
    'scores the text %j as %d, by rarity, order and distance of words that are adjacent in the query',
    (text, expected) => {
      expect(nearness(text)).toBeCloseTo(expected);
    },
  );

  it('scores words in different columns, such as title and text, as 0', () => {
    expect(QUERY.of(sequenceOf([['rotate'], ['admin']]), (count) => count)).toBe(0);
  });

  it('has no word pairs for a query of one word, of a repeated word, or of unknown words', () => {
    const link = { terms: ['key'], rarity: 1 };
    for (const links of [[], [link], [link, link], [link, { terms: [], rarity: 1 }]])
      expect(new Proximity(links).pairs).toBe(0);
  });
});

describe('KeywordIndex.find()', () => {
  it('ranks adjacent words above the same words far apart', () => {
    const index = indexOf([
      { text: 'The retry of a client that has no timeout, and what a policy is.' },
      { text: 'The policy of a client that has no timeout, and what a retry is.' },
      { text: 'The retry policy of a client, and what it is that has no timeout.' },
    ]);
    expect(found(index, 'retry policy')[0]).toBe(2);
  });
});
