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

  it('begins with a whole word if the passage begins near the start of the text', () => {
    const text = `Starlight is an integration that is built on top of the Astro web framework. Configure it in ${WORDS}`;
    expect(passageOf(text, 'Configure')).toMatch(/^on top of the Astro/);
  });

  const NOTE = 'Set port = 80 with listen()';
  const CODE = '  const port = 80;\n\n  server.listen(port);';

  it.each([
    ['prose that resembles code', NOTE, 'port', false],
    ['a code block that resembles prose', 'DROP TABLE name', 'name', true],
  ])('sets isCode by the given positions of code, not by the look of the text: %s', (_, text, found, isCode) => {
    const at = text.indexOf(found);
    const code = isCode ? [{ start: 0, end: text.length }] : [];
    expect(bestPassage(text, [{ start: at, end: at + found.length }], code).isCode).toBe(isCode);
  });

  it.each([
    ['within a line', `a${' '.repeat(200_000)}b`],
    ['at the start of a line', `a\n\n${' '.repeat(200_000)}\nb`],
  ])('reads a text with very many spaces %s in linear time', (_, text) => {
    const start = process.cpuUsage();
    bestPassage(text, []);
    expect(process.cpuUsage(start).user / 1000).toBeLessThan(2_000);
  });

  it('separates prose from code on the next line, and keeps the indentation of code', () => {
    const text = `${NOTE}\n${CODE}`;
    const code = [{ start: NOTE.length + 1, end: text.length }];
    const partWith = (found: string) => {
      const at = text.lastIndexOf(found);
      const { start, end, isCode } = bestPassage(text, [{ start: at, end: at + found.length }], code);
      return { part: text.slice(start, end), isCode };
    };
    expect(partWith('Set')).toEqual({ part: NOTE, isCode: false });
    expect(partWith('server')).toEqual({ part: '  server.listen(port);', isCode: true });
  });
});
