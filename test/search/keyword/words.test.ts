import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wordsOf } from '../../../src/search/keyword/words.ts';

const folded = (text: string) => wordsOf(text).map((word) => word.folded);
const partsOf = (text: string) => wordsOf(text).map((word) => word.parts);

describe('wordsOf()', () => {
  it('returns the name of a generic type together with its bracket, such as vector<', () => {
    const namesOf = (text: string) => wordsOf(text).flatMap(({ kind, folded }) => (kind === 'joined' ? [folded] : []));
    expect(namesOf('std::vector<int>')).toContain('vector<');
    expect(namesOf('\u4f7f\u7528List<String>')).toEqual(['list<']);
    expect(namesOf(`${'a'.repeat(100_000)}#<b`)).toEqual([]);
  });

  it('returns the same words for Latin text alone and for Latin text before a Cyrillic word', () => {
    const unit = fc.oneof(
      fc.constantFrom(...'aBc019__..--++##', 's', "'", '\u2019', ' '),
      // All characters of ranges without letters of other scripts.
      fc
        .integer({ min: 0, max: 0x25ff })
        .map((code) => String.fromCharCode(code))
        .filter((one) => !/[\u0080-\u2011\u2060-\u218f\u2400-\u24ff]/.test(one)),
    );
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        expect(wordsOf(text)).toEqual(wordsOf(`${text} ж`).slice(0, -1));
      }),
    );
  });

  it('folds case, diacritics, full width and ligatures', () => {
    expect(folded('Größe ÉTÉ ｆｕｌｌ ﬁle Łódź Ёлка')).toEqual(['grosse', 'ete', 'full', 'file', 'lodz', 'елка']);
  });

  it('folds a word with combining marks to the composed form', () => {
    expect(folded('re\u0301sume\u0301')).toEqual(folded('résumé'));
  });

  it('keeps vowel signs that belong to the word', () => {
    expect(folded('हिन्दी')).toEqual(['हिन्दी']);
  });

  it.each([
    ['maxRetryCount', ['max', 'retry', 'count']],
    ['max_retry_count', ['max', 'retry', 'count']],
    ['MAX_RETRY', ['max', 'retry']],
    ['HTTPServer2', ['http', 'server2', 'httpserver', '2']],
    ['base64Encode', ['base64', 'encode', 'base', '64']],
    ['__init__', []],
    ['URLs', []],
    ['sha256', ['sha', '256']],
    ['16GiB', ['16', 'gi', 'b', 'gib']],
    ['1_000_000', ['1000000']],
    ['3f2a1b9c', []],
  ])('splits the identifier %s into its parts, if it has several parts', (word, parts) => {
    expect(partsOf(word)).toEqual([parts]);
  });

  it('returns words joined by dots or hyphens as one word and as separate words', () => {
    expect(folded('server.port pre-built. end')).toEqual([
      'server.port',
      'server',
      'port',
      'pre-built',
      'pre',
      'built',
      'end',
    ]);
  });

  it('recognizes names of programming languages that end in signs, such as C++', () => {
    expect(folded('C++, C# and f(x)')).toEqual(['c++', 'c', 'c#', 'c', 'and', 'f', 'x']);
  });

  it('drops the s of a possessive', () => {
    expect(folded("Claude's user’s S")).toEqual(['claude', 'user', 's']);
  });

  it('returns each uninterrupted CJK text as one entry of the kind "run"', () => {
    const kinds = wordsOf('Node入門 한국어').map(({ kind, folded: text }) => [kind, text]);
    expect(kinds).toEqual([
      ['word', 'node'],
      ['run', '入門'],
      ['run', '한국어'],
    ]);
  });

  it('returns the same entry for half-width, decomposed and composed kana', () => {
    expect(folded('ﾃﾞｰﾀﾍﾞｰｽ')).toEqual(['データベース']);
    expect(folded('データベース'.normalize('NFD'))).toEqual(['データベース']);
  });

  it('returns the position of each word', () => {
    const text = 'a server.port 数据 ÉTÉ';
    expect(wordsOf(text).map(({ start, end }) => text.slice(start, end))).toEqual([
      'a',
      'server.port',
      'server',
      'port',
      '数据',
      'ÉTÉ',
    ]);
  });

  it('ignores very long strings, underscores, control characters and emoji', () => {
    expect(folded(`${'x'.repeat(1_000)} ___ \u0000 🎉`)).toEqual([]);
  });
});
