import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { languageOf, PAGE_LANGUAGES, preferredLanguage } from '../../src/web/words/index.ts';

describe('languageOf()', () => {
  it.each([
    ['en', 'en'],
    ['en-US', 'en'],
    ['DE-at', 'de'],
    ['fa-IR', 'fa'],
    ['pt', 'pt-BR'],
    ['pt_BR', 'pt-BR'],
    ['zh', 'zh-Hans'],
    ['zh-CN', 'zh-Hans'],
    ['zh-Hans', 'zh-Hans'],
    ['zh-TW', null],
    ['zh-Hant', null],
    ['sv', null],
    ['english', null],
    ['x', null],
    ['', null],
    ['*', null],
    ['"><script>', null],
  ])('maps the language %j to the texts in %j', (tag, words) => {
    expect(languageOf(tag)?.tag ?? null).toBe(words);
  });
});

describe('preferredLanguage()', () => {
  it.each([
    [undefined, 'en'],
    ['', 'en'],
    ['*', 'en'],
    ['de-DE,de;q=0.9,en;q=0.8', 'de'],
    ['en;q=0.1, ja;q=0.9', 'ja'],
    ['sv, fr;q=.2', 'fr'],
    ['fr;q=0', 'en'],
    ['fr ; Q=0.5 , es ; q=0.6', 'es'],
    ['ko;q=, ru;q=abc, fr', 'fr'],
    ['de, fr', 'de'],
    [`${'sv,'.repeat(5_000)}de`, 'en'],
  ])('selects for the Accept-Language header %j the language %s', (header, tag) => {
    expect(preferredLanguage(header).tag).toBe(tag);
  });
});

type Sentence = readonly [key: string, text: string];
const sentences = (words: object, path = ''): Sentence[] =>
  Object.entries(words).flatMap(([key, value]: [string, unknown]) =>
    typeof value === 'string' ? [[path + key, value] as const] : sentences(value as object, `${path + key}.`),
  );

/** Maximum share of common sentences of two languages. Spanish and Portuguese share one in ten, all of them short. */
const SHARED_MAX = 0.2;
const SHARED_CHARACTERS_MAX = 30;

describe('languages of docshelf', () => {
  const pairs = PAGE_LANGUAGES.flatMap((one, at) => PAGE_LANGUAGES.slice(at + 1).map((other) => [one, other] as const));

  it('have texts that are not a copy of another language', () => {
    const copies = pairs.flatMap(([one, other]) => {
      const texts = new Map(sentences(other.words));
      const shared = sentences(one.words).filter(([key, text]) => texts.get(key) === text);
      const isCopy = shared.length > SHARED_MAX * texts.size;
      const long = shared.filter(([, text]) => text.length > SHARED_CHARACTERS_MAX);
      return isCopy || long.length > 0
        ? [`${one.tag} and ${other.tag} share ${shared.length} of ${texts.size} sentences`]
        : [];
    });
    expect(copies).toEqual([]);
  });

  it('are returned by languageOf() for their own language tags', () => {
    expect(PAGE_LANGUAGES.filter((language) => languageOf(language.tag) !== language)).toEqual([]);
  });

  it('include a language for each file of texts', () => {
    const files = globSync('*.json', { cwd: join(import.meta.dirname, '../../src/web/words') });
    expect(PAGE_LANGUAGES.map(({ tag }) => `${tag.split('-')[0]}.json`).sort()).toEqual(files.sort());
  });
});

const placeholders = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String).sort();

describe.each(PAGE_LANGUAGES)('interface texts in $tag', ({ tag, direction, words }) => {
  const [english] = PAGE_LANGUAGES;
  it('have the same placeholders as the English texts, and no empty text', () => {
    const own = sentences(words).map(([key, text]) => [key, text.trim() === '' ? 'empty' : placeholders(text)]);
    expect(own).toEqual(sentences(english?.words ?? {}).map(([key, text]) => [key, placeholders(text)]));
  });

  it('contain no markup and no technical terms, such as bundle or deploy', () => {
    const text = sentences(words).map(([, sentence]) => sentence);
    expect(
      text.filter((each) => /[<>"]|\b(?:release|bundle|config|deploy|static|pin|docshelf|[45]\d\d)/i.test(each)),
    ).toEqual([]);
  });

  it('have the text direction of their script', () => {
    expect(direction).toBe(['ar', 'fa', 'he'].includes(tag) ? 'rtl' : 'ltr');
  });
});
