import { describe, expect, it } from 'vitest';
import { lettersByScript, readableScripts, scriptOfLanguage } from '../../../src/search/semantic/scripts.ts';

describe('scriptOfLanguage()', () => {
  it.each([
    ['en', 'Latn'],
    ['pt-BR', 'Latn'],
    ['en_US', 'Latn'],
    ['ja', 'Hira'],
    ['ko', 'Hang'],
    ['zh-TW', 'Hani'],
    ['fa', 'Arab'],
    ['sr-Latn', 'Latn'],
    ['und-Cyrl', 'Cyrl'],
    ['no language', null],
    ['', null],
  ])('returns for language %s the script %s', (tag, script) => {
    expect(scriptOfLanguage(tag)).toBe(script);
  });
});

describe('lettersByScript() (number of letters of each script)', () => {
  it('counts letters, but not digits or signs', () => {
    expect([...lettersByScript('Astro 5 の設定!')]).toEqual([
      ['Latn', 5],
      ['Hira', 1],
      ['Hani', 2],
    ]);
  });
});

describe('readableScripts() (scripts that a model can read)', () => {
  const words = (letters: string) => Array.from({ length: 120 }, (_, at) => letters.repeat(2 + at));

  it('counts only vocabulary entries with two or more letters of a script', () => {
    const vocabulary = [...words('ж'), ...Array.from('абвгд'), ...Array.from({ length: 500 }, () => '##ω')];
    expect(readableScripts(vocabulary, false)).toEqual(new Set(['Cyrl']));
  });

  it('ignores the word-piece markers ## and ▁ in a vocabulary', () => {
    expect(readableScripts([...words('a').map((word) => `##${word}`)], false)).toEqual(new Set(['Latn']));
    expect(readableScripts([...words('ひ').map((word) => `\u2581${word}`)], false)).toEqual(new Set(['Hira']));
  });

  it('decodes byte-level vocabularies', () => {
    /** 文 is E6 96 87. In the byte-level form, E6 is itself, and 96 and 87 are U+0138 and U+0129. */
    const piece = '\u00e6\u0138\u0129';
    expect(readableScripts(words(piece), true)).toEqual(new Set(['Hani']));
    expect(readableScripts(words(piece), false).has('Hani')).toBe(false);
  });
});
