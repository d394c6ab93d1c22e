import { describe, expect, it } from 'vitest';
import { normalBasePath } from '../../../src/domain/deployment.ts';
import { BasePathVotes, rebase, stripBase } from '../../../src/web/mount/base-path.ts';
import { findLinks } from '../../../src/web/references.ts';

describe('rebase()', () => {
  const below = { from: '/', to: '/team/docs/' };
  const above = { from: '/docs/', to: '/' };
  it.each([
    ['/', below, '/team/docs/'],
    ['/a/b?q#f', below, '/team/docs/a/b?q#f'],
    ['//host/a', below, null],
    ['/\\host/a', below, null],
    ['a/b', below, null],
    ['#a', below, null],
    ['https://other.example/a', below, null],
    ['/docs/a', above, '/a'],
    ['/docs', above, '/'],
    ['/docs?q', above, '/?q'],
    ['/docs-old/a', above, null],
    ['/elsewhere', above, null],
    ['/docs/a', { from: '/docs/', to: '/v2/' }, '/v2/a'],
  ])('rewrites the address %s with the base paths %o to %s', (url, mount, rebased) => {
    expect(rebase(url, mount)).toBe(rebased);
  });
});

describe('stripBase()', () => {
  it.each([
    ['/docs/', { kind: 'inside', target: '/' }],
    ['/docs/a?q', { kind: 'inside', target: '/a?q' }],
    ['/d%6fcs/a%20b?%6f', { kind: 'inside', target: '/a%20b?%6f' }],
    ['/docs', { kind: 'redirect', location: '/docs/' }],
    ['/docs?q#f', { kind: 'redirect', location: '/docs/?q' }],
    ['/docs/../a', { kind: 'inside', target: '/../a' }],
    ['/docs%2fa', { kind: 'outside' }],
    ['/docsa', { kind: 'outside' }],
    ['/', { kind: 'outside' }],
    ['*', { kind: 'outside' }],
  ])('strips the base path /docs/ from the request target %s: %o', (target, stripped) => {
    expect(stripBase(target, normalBasePath('/docs'))).toEqual(stripped);
  });

  it('returns every target unchanged if the site is at the root', () => {
    expect(stripBase('//x', '/')).toEqual({ kind: 'inside', target: '//x' });
  });
});

describe('BasePathVotes (base path of a site, from its links)', () => {
  const builtFor = (files: readonly string[], ...pages: string[]) => {
    const votes = new BasePathVotes(new Set(files));
    for (const html of pages) votes.addReferences(findLinks(html));
    return votes.decide();
  };

  it.each([
    ['/', ['index.html', 'a.html', 'b.css'], '<link rel="stylesheet" href="/b.css"><a href="/a">'],
    [
      '/docs/',
      ['index.html', 'a.html', 'b.css'],
      '<link rel="stylesheet" href="/docs/b.css"><a href="/docs/a"><a href="/blog">',
    ],
    ['/team/docs/', ['index.html', 'x/a.css'], '<link rel="stylesheet" href="/team/docs/x/a.css">'],
    // A folder of the site.
    ['/', ['docs/a.html', 'docs/b.css'], '<a href="/docs/a"><link rel="stylesheet" href="/docs/b.css">'],
    ['/', ['a.html'], '<a href="a.html"><a href="//host/docs/a.html"><a href="/elsewhere/x.html">'],
  ])('returns the base path %s for a site whose pages link to this path', (base, files, html) => {
    expect(builtFor(files, html)).toBe(base);
  });
});
