import { describe, expect, it } from 'vitest';
import { mediaTypeOf } from '../../../src/web/media-type.ts';
import { isServedPath } from '../../../src/web/mount/base-path.ts';
import { isTooLargeToMount, leftAddresses } from '../../../src/web/mount/index.ts';

const FILES = new Set(['index.html', 'guide/a.html', 'data.json']);

function left(path: string, text: string, from = '/', to = '/docs/'): string[] {
  const site = { from, to, has: (each: string) => isServedPath(FILES, each) };
  return leftAddresses({ path, type: mediaTypeOf(path), bytes: Buffer.from(text) }, site);
}

describe('leftAddresses() (addresses that mountFile() did not rewrite)', () => {
  it.each([
    ['pages that a script names', 'a.js', 'x("/guide/a");x("/guide/a")', ['/guide/a']],
    [
      'no addresses that mountFile() rewrites',
      'a.js',
      'fetch("/data.json");import("/guide/a.html");location="/guide/a"',
      [],
    ],
    ['no addresses without a page', 'a.js', 'x("/other","/")', []],
    ['scripts of pages, not their text', 'a.html', '<p>"/guide/a"</p><script>x("/guide/a")</script>', ['/guide/a']],
    ['addresses in data', 'a.json', '{"url":"/guide/a"}', ['/guide/a']],
    ['no addresses that VitePress completes', 'a.js', '__VP_SITE_DATA__=JSON.parse("{\\"link\\":\\"/guide/a\\"}")', []],
    ['no addresses in other files', 'a.css', '/* "/guide/a" */', []],
  ])('returns addresses of pages that were not rewritten: %s', (_, path, text, expected) => {
    expect(left(path, text)).toEqual(expected);
  });

  it('returns addresses that still have the previous base path', () => {
    expect(left('a.js', 'x("/docs/guide/a","/guide/a")', '/docs/', '/')).toEqual(['/docs/guide/a']);
  });
});

describe('isTooLargeToMount()', () => {
  it('returns true for a large file that docshelf would have to rewrite for another base path, but not for a large image', () => {
    const large = 2 ** 30;
    expect(isTooLargeToMount({ path: 'a.html', type: 'text/html' }, large)).toBe(true);
    expect(isTooLargeToMount({ path: 'a.png', type: 'image/png' }, large)).toBe(false);
    expect(isTooLargeToMount({ path: 'a.html', type: 'text/html' }, 1)).toBe(false);
  });
});
