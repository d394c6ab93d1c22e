import { describe, expect, it } from 'vitest';
import type { TrailingSlash } from '../../src/domain/release.ts';
import { resolvePath } from '../../src/web/resolve.ts';

const FILES = new Set([
  'index.html',
  '404.html',
  'ja/index.html',
  'ja/404/index.html',
  'ja/deep/page.html',
  'guides/rpc.html',
  'guides/rpc/payload.txt',
  'start/index.html',
  'both.html',
  'both/index.html',
  'old.htm',
  'x.xhtml',
  'legacy/index.htm',
  'a:b/index.html',
  '.well-known/security.txt',
  '.well-known/.secret',
  '.git/config',
  '.html',
  'docs/.env',
  '_docshelf/manifest.json',
  'caf\u00e9.html',
  'cafe\u0301s.html',
  'app.js',
  '100%.html',
]);

const resolve = (path: string, trailingSlash: TrailingSlash = 'always') =>
  resolvePath({ has: (name) => FILES.has(name) }, path, trailingSlash);
const file = (path: string) => ({ kind: 'file', path });
const redirect = (location: string) => ({ kind: 'redirect', location });
const missing = (notFoundPage: string | null) => ({ kind: 'missing', notFoundPage });

describe('resolvePath()', () => {
  it.each([
    ['', file('index.html')],
    ['index.html', file('index.html')],
    ['index', file('index.html')],
    ['guides/rpc', file('guides/rpc.html')],
    ['guides/rpc.html', file('guides/rpc.html')],
    ['guides/rpc/payload.txt', file('guides/rpc/payload.txt')],
    ['guides/rpc/', redirect('../rpc')],
    ['guides', missing('404.html')],
    ['start/', file('start/index.html')],
    ['start/index.html', file('start/index.html')],
    ['both', file('both.html')],
    ['both/', file('both/index.html')],
    ['old', file('old.htm')],
    ['old/', redirect('../old')],
    ['x', file('x.xhtml')],
    ['legacy/', file('legacy/index.htm')],
    ['404', file('404.html')],
    ['404.html', file('404.html')],
    ['app.js/', missing('404.html')],
    ['old.htm/', missing('404.html')],
    ['100%', file('100%.html')],
  ])('resolves the path "%s" in the same way with the trailingSlash policies always and never', (path, expected) => {
    expect(resolve(path, 'always')).toEqual(expected);
    expect(resolve(path, 'never')).toEqual(expected);
  });

  it.each([
    ['start', redirect('start/'), file('start/index.html')],
    ['legacy', redirect('legacy/'), file('legacy/index.htm')],
    ['ja', redirect('ja/'), file('ja/index.html')],
    ['a:b', redirect('a%3Ab/'), file('a:b/index.html')],
  ])(
    'redirects the path "%s" to the address with a trailing slash only if the trailingSlash policy is always',
    (path, always, never) => {
      expect(resolve(path, 'always')).toEqual(always);
      expect(resolve(path, 'never')).toEqual(never);
    },
  );

  it.each([
    ['nope', '404.html'],
    ['guides/rpc/nope', '404.html'],
    ['ja/nope', 'ja/404/index.html'],
    ['ja/deep/nope/', 'ja/404/index.html'],
    ['ja/deep/no/such/folder', 'ja/404/index.html'],
    ['docs/v1.2', '404.html'],
    [`${'a/'.repeat(2000)}b`, '404.html'],
  ])('returns the nearest 404 page for the missing path "%s"', (path, page) => {
    expect(resolve(path)).toEqual(missing(page));
  });

  it('returns no 404 page for a missing asset', () => {
    expect(resolve('ja/chunk.js')).toEqual(missing(null));
    expect(resolve('nope.txt')).toEqual(missing(null));
  });

  it('returns no 404 page for a missing path if the site contains none', () => {
    expect(resolvePath(new Map(), 'nope', 'always')).toEqual(missing(null));
  });

  it.each([
    '.git/config',
    'docs/.env',
    '.html',
    '.well-known/.secret',
    '.',
    '..',
    '../index.html',
    'ja/../index.html',
    './index.html',
    '_docshelf/manifest.json',
    '_docshelf',
  ])('does not serve the path "%s"', (path) => {
    expect(resolve(path).kind).toBe('missing');
  });

  it('serves files in the folder .well-known', () => {
    expect(resolve('.well-known/security.txt')).toEqual(file('.well-known/security.txt'));
  });

  it('finds names in another Unicode normalization form', () => {
    expect(resolve('cafe\u0301')).toEqual(file('caf\u00e9.html'));
    expect(resolve('caf\u00e9s')).toEqual(file('cafe\u0301s.html'));
    expect(resolve('caf\u00e9')).toEqual(file('caf\u00e9.html'));
  });
});
