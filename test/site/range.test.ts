import { describe, expect, it } from 'vitest';
import { parseRange } from '../../src/site/preconditions.ts';

describe('parseRange() of ten bytes', () => {
  it.each([
    ['bytes=0-0', { start: 0, length: 1 }],
    ['bytes=2-5', { start: 2, length: 4 }],
    ['bytes=5-', { start: 5, length: 5 }],
    ['bytes=5-99', { start: 5, length: 5 }],
    ['bytes=-3', { start: 7, length: 3 }],
    ['bytes=-99', { start: 0, length: 10 }],
    ['Bytes=1-2', { start: 1, length: 2 }],
    ['bytes=10-', 'unsatisfiable'],
    ['bytes=10-12', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=99999999999999999999-', 'unsatisfiable'],
    ['bytes=5-2', 'whole'],
    ['bytes=12-11', 'whole'],
    ['bytes=0-1,3-4', 'whole'],
    ['bytes=', 'whole'],
    ['bytes=-', 'whole'],
    ['bytes=a-b', 'whole'],
    ['items=0-1', 'whole'],
    ['garbage', 'whole'],
  ])('parses %s', (header, expected) => {
    expect(parseRange(header, 10)).toEqual(expected);
  });

  it.each([
    'bytes = 0-9',
    'bytes =0-1',
    'bytes= 0-1',
    'bytes=0 -1',
    'bytes=0- 1',
    'bytes=+0-1',
    'bytes=0x0-1',
    'bytes=0-1;',
    'bytes 0-1',
    'bytes:0-1',
    'bytes=--1',
    'bytes=0-1-2',
  ])('ignores the invalid range %s', (header) => {
    expect(parseRange(header, 10)).toBe('whole');
  });

  it('finds no satisfiable range in an empty body', () => {
    expect(parseRange('bytes=0-', 0)).toBe('unsatisfiable');
    expect(parseRange('bytes=-1', 0)).toBe('unsatisfiable');
  });
});
