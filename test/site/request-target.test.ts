import { describe, expect, it } from 'vitest';
import { canonicalise } from '../../src/site/request.ts';

describe('canonicalise()', () => {
  it.each([
    ['/', '', ''],
    ['/a/b', 'a/b', ''],
    ['/a/?x=1&y=%2F', 'a/', '?x=1&y=%2F'],
    ['/a?', 'a', '?'],
    ['/a#b?c', 'a', ''],
    ['/a?b#c', 'a', '?b'],
    ['/__next.!KGVuKQ.__PAGE__.txt?_rsc=1x', '__next.!KGVuKQ.__PAGE__.txt', '?_rsc=1x'],
    ['/%41%20b', 'A b', ''],
    ['/100%25', '100%', ''],
    ['/%2541', '%41', ''],
    ['/caf%C3%A9', 'caf\u00e9', ''],
    ['/%e2%82%ac', '\u20ac', ''],
    ['/a/../b', 'a/../b', ''],
    ['/%2e%2e/b', '../b', ''],
    ['http://docs.example/a/b?c', 'a/b', '?c'],
    ['HTTPS://docs.example', '', ''],
    ['http://docs.example?c', '', '?c'],
    ['/http://docs', null, null],
  ])('decodes %s', (target, path, query) => {
    expect(canonicalise(target)).toEqual(path === null ? { kind: 'nowhere' } : { kind: 'path', path, query });
  });

  it.each(['/%', '/%4', '/%zz', '/%ff', '/%c3', '*', '', 'a/b', '?x'])('reports %s as malformed', (target) => {
    expect(canonicalise(target)).toEqual({ kind: 'malformed' });
  });

  it.each([
    '//',
    '//evil.example/',
    '/a//b',
    '/a%2Fb',
    '/a%2fb',
    '/..%2f..%2fetc/passwd',
    '/a\\b',
    '/a%5Cb',
    '/a%00b',
    '/a%0Ab',
    '/a%7F',
    `/${'a'.repeat(5000)}`,
  ])('reports that %s has no valid path', (target) => {
    expect(canonicalise(target)).toEqual({ kind: 'nowhere' });
  });
});
