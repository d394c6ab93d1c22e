import { describe, expect, it } from 'vitest';
import { bestPassage } from '../../../src/http/site/best-passage.ts';

function passageOf(text: string, found = ''): string {
  const at = text.indexOf(found);
  const { start, end } = bestPassage(text, found === '' ? [] : [{ start: at, end: at + found.length }]);
  return text.slice(start, end);
}

const WORDS = Array.from({ length: 120 }, (_, at) => `word${at}`).join(' ');

describe('bestPassage() (excerpt in a search result)', () => {
  it.each(['', 'word0', 'word50', 'word99', 'word119'])(
    'returns a passage that contains the found word "%s", and begins and ends with a whole word',
    (found) => {
      const words = passageOf(WORDS, found).trim().split(' ');
      const known = new Set(WORDS.split(' '));
      expect(words.filter((word) => !known.has(word))).toEqual([]);
      expect(words).toContain(found || 'word0');
    },
  );

  it('cuts text without spaces between two characters, not within a surrogate pair', () => {
    const text = '𠮷野家の資料を保存します。'.repeat(40);
    expect(passageOf(text).isWellFormed()).toBe(true);
    expect(passageOf(text).length).toBeGreaterThan(200);
  });

  it('sets isCode if the text is code, but not if it is prose', () => {
    const isCode = (text: string) => bestPassage(text, []).isCode;
    expect(isCode('const port = 80;\nserver.listen(port);')).toBe(true);
    expect(isCode('search.memory · 384MiB · Memory of the search')).toBe(false);
  });
});
