import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseQuery as parse } from '../../../src/search/keyword/query.ts';

const parseQuery = (text: string, isOption = false) => parse(text, () => isOption);

describe('parseQuery()', () => {
  it('extracts quoted phrases and excluded words', () => {
    const query = parseQuery('retry "max count" -beta -"not this" last');
    expect(query).toMatchObject({ phrases: ['max count'], unwanted: ['beta', 'not this'], isQuestion: false });
    expect(query.wanted.split(/\s+/)).toEqual(['retry', 'max', 'count', 'last']);
  });

  it('does not treat a command-line option such as -jar as an excluded word', () => {
    expect(parseQuery('java -jar', true)).toMatchObject({ unwanted: [], wanted: 'java -jar', inclusive: null });
    expect(parseQuery('jaguar -motorcar')).toMatchObject({ unwanted: ['motorcar'], inclusive: 'jaguar motorcar' });
    expect(parseQuery('x -a1 -"not this" y').inclusive).toBe('x a1 "not this" y');
    expect(parseQuery('-"a b"', true).unwanted).toEqual(['a b']);
  });

  it('recognizes typographic quotes', () => {
    expect(parseQuery('“max count” „auf deutsch“').phrases).toEqual(['max count', 'auf deutsch']);
  });

  it.each(['-movflags +faststart', 'npm -g install', 'git push --force', 'pre-built', 'a - b'])(
    'excludes no word of the query %j',
    (text) => {
      expect(parseQuery(text)).toMatchObject({ unwanted: [], wanted: text });
    },
  );

  it('treats a quote without an end as a plain character', () => {
    expect(parseQuery('say "hello world')).toMatchObject({ phrases: [], wanted: 'say "hello world' });
  });

  it('returns isQuestion for a long question that contains a quoted phrase', () => {
    expect(parseQuery('how do I set the "max retries" of a client').isQuestion).toBe(true);
  });

  it.each<[string, boolean]>([
    ['conf', true],
    ['conf ', false],
    ['"conf"', false],
    ['größ', true],
  ])('returns whether the last word of the query %j may be unfinished', (text, unfinished) => {
    expect(parseQuery(text).unfinished).toBe(unfinished);
  });

  it('limits the query length and the number of operators, and never throws', () => {
    expect(parseQuery(`x ${'-no '.repeat(100)}`).unwanted).toHaveLength(6);
    expect(parseQuery('x '.repeat(100_000)).wanted).toHaveLength(2_000);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const { phrases, unwanted } = parseQuery(text);
        expect(phrases.length + unwanted.length).toBeLessThanOrEqual(6);
      }),
    );
    // Creating the texts takes a second of processor time, more on a busy machine.
  }, 30_000);
});
