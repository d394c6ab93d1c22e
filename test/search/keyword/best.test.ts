import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Best } from '../../../src/search/keyword/ranking.ts';

describe('Best (list of the best entries)', () => {
  it('keeps the same entries that a full sort would put first', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 20 })), fc.nat(12), (scores, limit) => {
        const best = new Best(limit);
        for (const [section, score] of scores.entries()) best.offer(section, score);
        const sorted = scores
          .map((score, section) => ({ section, score }))
          .sort((left, right) => right.score - left.score || left.section - right.section);
        expect(best.ranked()).toEqual(sorted.slice(0, limit));
      }),
    );
  });
});
