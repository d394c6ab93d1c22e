import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutPassages } from '../../../src/search/extract/passages.ts';

/** Counts one token per word, and one per Chinese character. */
const countWords = (text: string) => text.match(/\p{Script=Han}|[^\s\p{Script=Han}]+/gu)?.length ?? 0;
const cut = (text: string, tokensMax = 6, overlapTokensMax = 3) =>
  cutPassages(text, countWords, { tokensMax, overlapTokensMax }).map(({ start, end }) => text.slice(start, end));

describe('cutPassages()', () => {
  it('returns a short text as one passage, and no passage for blank text', () => {
    expect(cut('one two\n\nthree four')).toEqual(['one two\n\nthree four']);
    expect(cut(' \n\n ')).toEqual([]);
  });

  it('cuts between paragraphs without overlap', () => {
    expect(cut('a b c.\n\nd e f.\n\ng h i.')).toEqual(['a b c.\n\nd e f.', 'g h i.']);
  });

  it('cuts a long paragraph between sentences, and repeats the previous sentence', () => {
    expect(cut('A b. C d. E f. G h. I j.')).toEqual(['A b. C d. E f.', 'E f. G h. I j.']);
  });

  it('does not repeat the previous sentence if it is too long', () => {
    expect(cut('A b c d. E f g h.')).toEqual(['A b c d.', 'E f g h.']);
  });

  it('recognizes the ends of Chinese and Japanese sentences', () => {
    expect(cut('你好世界。再见世界！一二三四？', 5, 0)).toEqual(['你好世界。', '再见世界！', '一二三四？']);
  });

  it('cuts code and lists between lines', () => {
    expect(cut('a b c\nd e f\ng h i', 6, 0)).toEqual(['a b c\nd e f', 'g h i']);
  });

  it('cuts at white space if a sentence is too long', () => {
    expect(cut('a b c d e f g h', 4, 0)).toEqual(['a b c d', 'e f g h']);
  });

  it('uses about 220 tokens per passage by default', () => {
    const text = 'One two three four five. '.repeat(200);
    const sizes = cutPassages(text, countWords).map(({ start, end }) => countWords(text.slice(start, end)));
    expect(Math.max(...sizes)).toBe(220);
    expect(Math.min(...sizes.slice(0, -1))).toBe(220);
  });

  it('covers all visible text in order, keeps each passage within the limit, and splits no surrogate pair', () => {
    const piece = fc.constantFrom('word ', 'x', '. ', '。', '\n\n', '\n', '😀', '  ', '汉字', '```');
    const count = (text: string) => [...text].length;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), fc.integer({ min: 1, max: 12 }), (pieces, tokensMax) => {
        const text = pieces.join('');
        const passages = cutPassages(text, count, { tokensMax, overlapTokensMax: 3 });
        let covered = 0;
        for (const { start, end } of passages) {
          expect(text.slice(covered, Math.max(covered, start)).trim()).toBe('');
          expect(text.slice(start, end).isWellFormed()).toBe(true);
          expect(text.slice(start, end).trim()).toBe(text.slice(start, end));
          expect(end).toBeGreaterThan(covered);
          covered = end;
        }
        expect(text.slice(covered).trim()).toBe('');
      }),
    );
  });
});
