import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { counted, printable, printableJson, printableLines } from '../../src/domain/text.ts';

const UNSAFE =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]/;
/** Generates text of random code units, many of which have a meaning for terminals. */
const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...'\u001b\u009b\u202e\u200d\ud800\udc00\n\ra🙂'),
    fc.string({ minLength: 1, maxLength: 1, unit: 'binary' }),
  ),
});
const withoutPairs = (text: string): string => text.replace(/[\ud800-\udbff][\udc00-\udfff]/g, '');

describe('printable()', () => {
  it.each([
    ['a\u001b]0;owned\u0007b', 'a\\u{1b}]0;owned\\u{7}b'],
    ['\u009b31mred', '\\u{9b}31mred'],
    ['v1\u202e2v', 'v1\\u{202e}2v'],
    ['\u2066a\u2069\u061c\u200f', '\\u{2066}a\\u{2069}\\u{61c}\\u{200f}'],
    ['a\u200bb\u2060c\ufeff', 'a\\u{200b}b\\u{2060}c\\u{feff}'],
    ['a\u200db\u200cc', 'a\\u{200d}b\\u{200c}c'],
    ['two\nlines\r\n\tand\u2028more', 'two\\u{a}lines\\u{d}\\u{a}\\u{9}and\\u{2028}more'],
    ['half \ud83d', 'half \\u{d83d}'],
    ['half \ude00', 'half \\u{de00}'],
    ['tag \u{e0041}', 'tag \\u{e0041}'],
    ['del \u007f', 'del \\u{7f}'],
  ])('escapes control and invisible characters in %j', (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it.each(['Größe – “quoted” \\ 列表 🙂', 'می‌خواهم', 'क्‍ष', '👨‍👩‍👧', '👍🏽‍🦱', 'Doku\u00admentation'])(
    'keeps all characters of the visible text %s',
    (text) => {
      expect(printable(text)).toBe(text);
    },
  );
});

describe('printableLines()', () => {
  it('keeps line breaks and tabs, and escapes other control characters', () => {
    expect(printableLines('a\n\tb\r\u001bc')).toBe('a\n\tb\\u{d}\\u{1b}c');
  });
});

describe('printableJson()', () => {
  it('returns JSON with the given value, and escapes terminal control characters', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const json = printableJson(JSON.stringify({ text }, null, 2));
        expect(JSON.parse(json)).toEqual({ text });
        expect(withoutPairs(json).replaceAll('\n', '')).not.toMatch(
          /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\ud800-\udfff]/,
        );
      }),
    );
  });
});

it('printable() and printableLines() leave no terminal control characters', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(withoutPairs(printable(text)).replace(/\u200c|\u200d/g, '')).not.toMatch(UNSAFE);
      expect(withoutPairs(printableLines(text)).replace(/\u200c|\u200d|\n|\t/g, '')).not.toMatch(UNSAFE);
    }),
  );
});

it.each([
  [0, '0 pages'],
  [1, '1 page'],
  [2, '2 pages'],
  [1234, '1234 pages'],
])('counted(%i, "page") is "%s"', (count, text) => {
  expect(counted(count, 'page')).toBe(text);
});

it('counted(2, "entry", "entries") uses the given irregular plural', () => {
  expect([counted(1, 'entry', 'entries'), counted(2, 'entry', 'entries')]).toEqual(['1 entry', '2 entries']);
});
