import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Marker } from '../../../src/search/query/excerpts.ts';
import { cases } from '../../helpers/runs.ts';
import { indexOf } from './index-folder.ts';

/** Processor time of this thread, independent of the load. */
const QUERY_MS_MAX = 200;

const piece = fc.oneof(
  fc.constantFrom(
    '"',
    '""',
    '-',
    '--',
    '-"',
    '*',
    '^',
    ':',
    'AND',
    'OR',
    'NOT',
    'NEAR(a b, 3)',
    'title:',
    '(',
    ')',
    '+',
  ),
  fc.constantFrom(
    "'; DROP TABLE sections; --",
    'a"b',
    '{title text}:x',
    '\u0000',
    '🎉',
    '👩‍👩‍👧',
    '\ud800',
    '“',
    '„',
    '\\',
  ),
  fc.constantFrom(
    'مرحبا',
    'שלום',
    '\u202eabc',
    '数据库',
    'か',
    '데이터',
    'ﷺ',
    '⑴',
    '½',
    'İ',
    'ﬁ',
    'é',
    'ß',
    'c++',
    'a.b.c',
  ),
  fc.constantFrom('retry', 'config', 'maxRetryCount', 'servr', 'the', '-retry', '"retry count"', 'configuratoin', 'e'),
  fc.string({ unit: 'binary', maxLength: 10 }),
  fc.string({ maxLength: 10 }),
);
const query = fc.oneof(
  { weight: 90, arbitrary: fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(' ')) },
  { weight: 30, arbitrary: fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')) },
  { weight: 1, arbitrary: fc.constantFrom('a', '数', '"', '-', ' ', '.', 'é', '🎉').map((each) => each.repeat(1_000)) },
  {
    weight: 1,
    arbitrary: fc.array(fc.constantFrom('x', 'y', '数', '据', ' '), { minLength: 1_000 }).map((each) => each.join('')),
  },
);

describe('KeywordIndex.find()', () => {
  it('responds to thousands of generated queries without errors and within a time limit', { timeout: 300_000 }, () => {
    const words = 'retry config server the client request key maxRetryCount 数据库连接 데이터 rotate token'.split(' ');
    const index = indexOf(
      Array.from({ length: 1_000 }, (_, at) => ({
        title: `Page ${at % 97}`,
        text: Array.from(
          { length: 40 },
          (_unused, word) => words[(at * 7 + word * (1 + (at % 11))) % words.length],
        ).join(' '),
      })),
    );
    let slowestMs = 0;
    fc.assert(
      fc.property(query, fc.boolean(), (text, prefixLast) => {
        const from = process.threadCpuUsage().user;
        const { hits, matchedIn } = index.find(text, { limit: 10, prefixLast });
        slowestMs = Math.max(slowestMs, (process.threadCpuUsage().user - from) / 1_000);
        const [first] = hits;
        if (first !== undefined) new Marker(matchedIn(first.section)).mark(index.section(first.section)?.text ?? '');
        return hits.every(({ normalised }) => normalised > 0 && Number.isFinite(normalised));
      }),
      { numRuns: cases(2_000) },
    );
    expect(slowestMs).toBeLessThan(QUERY_MS_MAX);
  });

  it('finds and marks a word in a text of 400,000 Chinese characters without a space or a punctuation mark', () => {
    const text = '数据'.repeat(200_000);
    const index = indexOf([{ title: 'Characters', text }]);
    const { hits, matchedIn } = index.find('数据', { limit: 10, prefixLast: false });
    const [first] = hits;
    expect(first).toBeDefined();
    const { highlights } = new Marker(matchedIn(first?.section ?? 0)).mark(text);
    expect(highlights).toEqual([{ start: 0, end: text.length }]);
  });

  it('searches for a German compound within a time limit if the site contains each ending of the compound, but not its beginning', () => {
    const endings = Array.from({ length: 36 }, (_, at) => 'a'.repeat(at + 3)).join(' ');
    const index = indexOf([{ title: 'Wort', text: `der die das und ist nicht ${endings}`, language: 'de' }]);
    const from = process.threadCpuUsage().user;
    index.find(`x${'a'.repeat(38)}`, { limit: 10, prefixLast: false });
    expect((process.threadCpuUsage().user - from) / 1_000).toBeLessThan(5 * QUERY_MS_MAX);
  });
});
