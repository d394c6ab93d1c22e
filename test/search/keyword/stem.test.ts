import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { otherSpellings, stem } from '../../../src/search/keyword/english.ts';

const ROOTS = 'relat condit hop happ tann fall hiss fizz fail fil agre plaster motor conflat troubl siz adjust defens';
const MORE_ROOTS = 'oper vietnam predic vil differ analog radic electr hesit feudal decis gyroscop control roll sk b y';
const SUFFIXES =
  's es ies sses ss ed ing eed e y ye ational tional enci anci izer abli alli entli eli ousli ization ation ator alism ' +
  'iveness fulness ousness aliti iviti biliti logi icate ative alize iciti ical ful ness al ance ence er ic able ible ' +
  'ant ement ment ent ion sion tion ou ism ate iti ous ive ize bling ating izing lled lling ssed ly ies';

/** Stems of SQLite's Porter tokenizer. */
function stemsOfSqlite(words: readonly string[]): string[] {
  const database = new DatabaseSync(':memory:');
  database.exec(
    "CREATE VIRTUAL TABLE t USING fts5(word, tokenize = 'porter ascii'); CREATE VIRTUAL TABLE v USING fts5vocab(t, instance);",
  );
  const insert = database.prepare('INSERT INTO t (rowid, word) VALUES (?, ?)');
  for (const [at, word] of words.entries()) insert.run(at, word);
  const rows = database.prepare('SELECT term, doc FROM v ORDER BY doc').all();
  database.close();
  return rows.map(({ term }) => String(term));
}

describe('stem()', () => {
  it("agrees with SQLite's Porter tokenizer on every suffix", () => {
    const words = `${ROOTS} ${MORE_ROOTS}`
      .split(' ')
      .flatMap((root) => ['', ...SUFFIXES.split(' ')].map((suffix) => root + suffix));
    expect(words.map(stem)).toEqual(stemsOfSqlite(words));
  });

  it('keeps the first letter of the word, which highlights rely on', () => {
    const words = `${ROOTS} ${MORE_ROOTS} a y ay`
      .split(' ')
      .flatMap((root) => ['', ...SUFFIXES.split(' ')].map((suffix) => root + suffix));
    expect(words.filter((word) => stem(word)[0] !== word[0])).toEqual([]);
  });

  it.each(['ab', 'größe', 'sha256', 'max_retries', ''])('returns the word %j unchanged', (word) => {
    expect(stem(word)).toBe(word);
  });
});

describe('otherSpellings()', () => {
  it.each([
    ['colour', ['color']],
    ['color', ['colour']],
    ['behavioral', ['behavioural']],
    ['favorite', ['favourite']],
    ['organisations', ['organizations']],
    ['analysed', ['analyzed']],
    ['modelling', ['modeling']],
    ['licence', ['license']],
    ['four', []],
    ['filled', []],
    ['this', []],
    ['port', []],
  ])('returns for the word %s the spellings %j', (word, expected) => {
    expect(otherSpellings(word)).toEqual(expected);
  });
});
