import { describe, expect, it } from 'vitest';
import { evaluatePreconditions, rangeHolds } from '../../src/serve/preconditions.ts';

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
    [{ 'if-modified-since': DATE }, 'not-modified'],
    [{ 'if-modified-since': EARLIER }, 'proceed'],
    [{ 'if-modified-since': LATER }, 'proceed'],
    [{ 'if-modified-since': 'yesterday' }, 'proceed'],
    [{ 'if-none-match': '"x"', 'if-modified-since': DATE }, 'proceed'],
    [{ 'if-none-match': '"abc-br"', 'if-modified-since': LATER }, 'not-modified'],
    [{ 'if-match': '"abc-br"' }, 'proceed'],
    [{ 'if-match': '*' }, 'proceed'],
    [{ 'if-match': '"x", "abc-br"' }, 'proceed'],
    [{ 'if-match': 'W/"abc-br"' }, 'failed'],
    [{ 'if-match': '"x"' }, 'failed'],
    [{ 'if-match': '"x"', 'if-none-match': '"abc-br"' }, 'failed'],
    [{ 'if-match': '"abc-br"', 'if-none-match': '"abc-br"' }, 'not-modified'],
    [{ 'if-match': '"abc-br"', 'if-unmodified-since': EARLIER }, 'proceed'],
    [{ 'if-unmodified-since': DATE }, 'proceed'],
    [{ 'if-unmodified-since': LATER }, 'proceed'],
    [{ 'if-unmodified-since': EARLIER }, 'failed'],
    [{ 'if-unmodified-since': 'yesterday' }, 'proceed'],
  ] as const)('%j: %s', (headers, verdict) => {
    expect(evaluate(headers)).toBe(verdict);
  });
});

describe('rangeHolds()', () => {
  it.each([
    [undefined, true],
    ['"abc-br"', true],
    ['W/"abc-br"', false],
    ['"abc"', false],
    [DATE, true],
    [LATER, false],
    [EARLIER, false],
    ['yesterday', false],
  ])('%s: %s', (ifRange, expected) => {
    expect(rangeHolds(ifRange, VALIDATORS)).toBe(expected);
  });
});
