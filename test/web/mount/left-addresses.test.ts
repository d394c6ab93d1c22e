import { describe, expect, it } from 'vitest';
import { mediaTypeOf } from '../../../src/web/media-type.ts';
import { isServedPath, isTooLargeToMount, leftAddresses } from '../../../src/web/mount/index.ts';

const FILES = new Set(['index.html', 'guide/a.html', 'data.json']);

function left(path: string, text: string, from = '/', to = '/docs/'): string[] {
  const site = { from, to, has: (each: string) => isServedPath(FILES, each) };
  return leftAddresses({ path, type: mediaTypeOf(path), bytes: Buffer.from(text) }, site);
}

describe('leftAddresses()', () => {
  it.each([
    ['pages that a script names', 'a.js', 'x("/guide/a");x("/guide/a")', ['/guide/a']],
    ['not what is rewritten', 'a.js', 'fetch("/data.json");import("/guide/a.html");location="/guide/a"', []],
    ['not what leads nowhere', 'a.js', 'x("/other","/")', []],
    ['scripts of pages, not their text', 'a.html', '<p>"/guide/a"</p><script>x("/guide/a")</script>', ['/guide/a']],
    ['data', 'a.json', '{"url":"/guide/a"}', ['/guide/a']],
    ['not what VitePress completes', 'a.js', '__VP_SITE_DATA__=JSON.parse("{\\"link\\":\\"/guide/a\\"}")', []],
    ['nothing in other files', 'a.css', '/* "/guide/a" */', []],
  ])('%s', (_, path, text, expected) => {
    expect(left(path, text)).toEqual(expected);
  });

  it('the way back: what is still below the former base path', () => {
    expect(left('a.js', 'x("/docs/guide/a","/guide/a")', '/docs/', '/')).toEqual(['/docs/guide/a']);
  });
});

describe('isTooLargeToMount()', () => {
  it('is said of files that would be read, and of no picture', () => {
    const large = 2 ** 30;
    expect(isTooLargeToMount({ path: 'a.html', type: 'text/html' }, large)).toBe(true);
    expect(isTooLargeToMount({ path: 'a.png', type: 'image/png' }, large)).toBe(false);
    expect(isTooLargeToMount({ path: 'a.html', type: 'text/html' }, 1)).toBe(false);
  });
});
