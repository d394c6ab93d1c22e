import { describe, expect, it } from 'vitest';
import { evaluatePreconditions, rangeHolds } from '../../src/site/preconditions.ts';

const DATE = 'Sat, 01 Jun 2024 10:20:30 GMT';
const EARLIER = 'Sat, 01 Jun 2024 10:20:29 GMT';
const LATER = 'Sun, 02 Jun 2024 10:20:30 GMT';
const VALIDATORS = { etag: '"abc-br"', lastModifiedMs: Date.parse(DATE) };

const evaluate = (headers: Readonly<Record<string, string>>) =>
  evaluatePreconditions({ method: 'GET', target: '/', header: (name) => headers[name], id: () => null }, VALIDATORS);

describe('evaluatePreconditions()', () => {
  it.each([
    [{}, 'proceed'],
    [{ 'if-none-match': '"abc-br"' }, 'not-modified'],
    [{ 'if-none-match': 'W/"abc-br"' }, 'not-modified'],
    [{ 'if-none-match': '"x", "y,z" ,W/"abc-br"' }, 'not-modified'],
    [{ 'if-none-match': '*' }, 'not-modified'],
    [{ 'if-none-match': '"abc"' }, 'proceed'],
    [{ 'if-none-match': '"abc-gz"' }, 'proceed'],
    [{ 'if-none-match': 'abc-br' }, 'proceed'],
    [{ 'if-none-match': '"x, "abc-br"' }, 'proceed'],
    [{ 'if-none-match': '' }, 'proceed'],
    [{ 'if-none-match': 'w/"abc-br"' }, 'proceed'],
    [{ 'if-none-match': '"x" "abc-br";' }, 'proceed'],
    [{ 'if-modified-since': DATE }, 'proceed'],
    [{ 'if-modified-since': EARLIER }, 'proceed'],
    [{ 'if-modified-since': LATER }, 'proceed'],
    [{ 'if-modified-since': 'yesterday' }, 'proceed'],
    [{ 'if-none-match': '"x"', 'if-modified-since': DATE }, 'proceed'],
    [{ 'if-none-match': '"abc-br"', 'if-modified-since': LATER }, 'not-modified'],
    [{ 'if-match': '"abc-br"' }, 'proceed'],
    [{ 'if-match': '*' }, 'proceed'],
    [{ 'if-match': '"x", "abc-br"' }, 'proceed'],
    [{ 'if-match': 'W/"abc-br"' }, 'failed'],
    [{ 'if-match': 'w/"abc-br"' }, 'failed'],
    [{ 'if-match': '"x"' }, 'failed'],
    [{ 'if-match': '"x"', 'if-none-match': '"abc-br"' }, 'failed'],
    [{ 'if-match': '"abc-br"', 'if-none-match': '"abc-br"' }, 'not-modified'],
    [{ 'if-match': '"abc-br"', 'if-unmodified-since': EARLIER }, 'proceed'],
    [{ 'if-unmodified-since': DATE }, 'proceed'],
    [{ 'if-unmodified-since': LATER }, 'proceed'],
    [{ 'if-unmodified-since': EARLIER }, 'failed'],
    [{ 'if-unmodified-since': 'Saturday, 01-Jun-24 10:20:29 GMT' }, 'failed'],
    [{ 'if-unmodified-since': 'Sat Jun  1 10:20:29 2024' }, 'failed'],
    [{ 'if-unmodified-since': 'Sat Jun  1 10:20:30 2024' }, 'proceed'],
    ...[
      'yesterday',
      '',
      '0',
      '1',
      '2020',
      '-1',
      '2020-01-01',
      '2020-01-01T00:00:00Z',
      'Sat, 01 Jun 2019',
      '1577836800',
    ].map((date) => [{ 'if-unmodified-since': date }, 'proceed'] as const),
    ...[
      'Sat, 01 Jun 2019 10:20:30',
      'Sat, 1 Jun 2019 10:20:30 GMT',
      'Sat, 01 Jun 2019 10:20:30 +0200',
      'sat, 01 jun 2019 10:20:30 gmt',
      'Sat, 01 Jun 2019 25:20:30 GMT',
    ].map((date) => [{ 'if-unmodified-since': date }, 'proceed'] as const),
  ] as const)('evaluates %j to %s', (headers, verdict) => {
    expect(evaluate(headers)).toBe(verdict);
  });
});

describe('rangeHolds()', () => {
  it.each([
    [undefined, true],
    ['"abc-br"', true],
    ['W/"abc-br"', false],
    ['"abc"', false],
    ['w/"abc-br"', false],
    ['*', false],
    ['', false],
    [DATE, false],
    [LATER, false],
    [EARLIER, false],
    ['yesterday', false],
  ])('returns for If-Range %s the value %s', (ifRange, expected) => {
    expect(rangeHolds(ifRange, VALIDATORS)).toBe(expected);
  });
});
