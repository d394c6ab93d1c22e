import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { relativeUrl } from '../../../src/web/rewrite/write.ts';

describe('relativeUrl()', () => {
  it.each([
    ['a.html', 'b.html', '', 'b.html'],
    ['a/b.html', 'a/c.html', '?d=1#e', 'c.html?d=1#e'],
    ['a/b.html', 'c.css', '', '../c.css'],
    ['a/b/c.html', 'a/d/e.html', '', '../d/e.html'],
    ['a.html', 'a.html', '#b', '#b'],
    ['a.html', 'a.html', '', 'a.html'],
    ['a/b.html', 'a/', '', './'],
    ['a/b.html', '', '#c', '../#c'],
    ['a.html', 'b c/é%?#.html', '', 'b%20c/%C3%A9%25%3F%23.html'],
    ['a.html', 'b:c.html', '', './b:c.html'],
    ['a/b.html', 'b:c.html', '', '../b:c.html'],
  ])('returns for a link from the page %s to the file %s%s the URL %s', (from, to, suffix, url) => {
    expect(relativeUrl(from, to, suffix)).toBe(url);
  });

  it('returns a URL that resolves to the target, whatever characters the path contains', () => {
    // Every URL treats names of dots as folders, encoded or not.
    const segment = fc
      .string({ minLength: 1, maxLength: 8 })
      .filter((name) => !name.includes('/') && !/^\.+$/.test(name));
    const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/'));
    const addressOf = (file: string): URL =>
      new URL(`http://x.test/${file.split('/').map(encodeURIComponent).join('/')}`);
    fc.assert(
      fc.property(path, path, (from, to) => {
        const { pathname, search, hash } = new URL(relativeUrl(from, to), addressOf(from));
        expect([decodeURIComponent(pathname.slice(1)), search, hash]).toEqual([to, '', '']);
      }),
    );
  });
});
