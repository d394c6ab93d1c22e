import { describe, expect, it } from 'vitest';
import { TrailingSlashVotes } from '../../src/web/trailing-slash.ts';

/** Decides for a site with these pages (HTML by path) and other files (by path only). */
function decide(pages: Readonly<Record<string, string>>, others: readonly string[] = []) {
  const votes = new TrailingSlashVotes(new Set([...Object.keys(pages), ...others]));
  for (const [path, html] of Object.entries(pages)) votes.addPage(path, html);
  return votes.decide();
}

const link = (...urls: string[]) => urls.map((url) => `<a href="${url}">x</a>`).join('');

describe('TrailingSlashVotes (trailing slash policy of a site, from its links)', () => {
  it('returns "never" if links to folder pages have no slash', () => {
    expect(decide({ 'index.html': link('/a', '/b'), 'a/index.html': link('/b'), 'b/index.html': '' })).toBe('never');
  });

  it('returns "always" if links to folder pages have a slash', () => {
    expect(decide({ 'index.html': link('/a/', '/b/'), 'a/index.html': link('/b/#x'), 'b/index.html': '' })).toBe(
      'always',
    );
  });

  it('follows the majority of links', () => {
    expect(decide({ 'index.html': link('/a', '/b', '/b/'), 'a/index.html': '', 'b/index.html': '' })).toBe('never');
    expect(decide({ 'index.html': link('/a', '/a/', '/b/'), 'a/index.html': '', 'b/index.html': '' })).toBe('always');
  });

  it('counts canonical links, including canonical links with a path prefix', () => {
    const canonical = (url: string) => `<link rel="canonical" href="${url}">`;
    expect(decide({ 'a/index.html': canonical('https://x.dev/docs/a/') })).toBe('always');
    expect(decide({ 'a/index.html': `${canonical('https://x.dev/docs/a')}${link('x.png', 'y.png')}` })).toBe('never');
  });

  it('counts absolute links only if they point to the host of the canonical link', () => {
    const page = (host: string) => `<link rel=canonical href="https://x.dev/">${link(`https://${host}/a/`)}`;
    expect(decide({ 'index.html': page('x.dev'), 'a/index.html': '' })).toBe('always');
    expect(decide({ 'index.html': page('y.dev') + link('/c.html'), 'a/index.html': '', 'c.html': '' })).toBe('never');
  });

  it('returns "always" if relative references in folder pages need the slash', () => {
    expect(decide({ 'a/index.html': '<img src="x.png">' }, ['a/x.png'])).toBe('always');
  });

  it('returns "never" if relative references in folder pages resolve only without the slash', () => {
    expect(decide({ 'a/index.html': '<img src="x.png">' }, ['x.png'])).toBe('never');
  });

  it('returns "always" if an image resolves only from an address with a trailing slash, even if a few links have no slash', () => {
    expect(decide({ 'index.html': link('/a', '/a', '/a'), 'a/index.html': '<img src="x.png">' }, ['a/x.png'])).toBe(
      'always',
    );
  });

  it('does not count links to a page with the same name as the folder', () => {
    const pages = { 'index.html': link('/a', '/a', '/b/'), 'a.html': '', 'a/index.html': '', 'b/index.html': '' };
    expect(decide(pages)).toBe('always');
  });

  it('does not count relative references of a folder 404 page, which is served at any address', () => {
    expect(
      decide({ 'index.html': link('/a'), 'a/index.html': '', '404/index.html': '<img src=x.png>' }, ['404/x.png']),
    ).toBe('never');
  });

  it('resolves relative references against <base>', () => {
    expect(decide({ 'a/index.html': `<base href="/">${link('b')}`, 'b/index.html': '' })).toBe('never');
  });

  it('returns "always" for relative links and "never" for absolute links if there are no folder pages', () => {
    expect(decide({ 'index.html': link('a.html'), 'a.html': link('index.html') })).toBe('always');
    expect(decide({ 'index.html': link('/a'), 'a.html': link('/') })).toBe('never');
    expect(decide({})).toBe('never');
  });

  it('ignores invalid links', () => {
    expect(
      decide({ 'index.html': link('http://[', '/%ff', 'mailto:a@b', 'javascript:0', '#x', '/a/'), 'a/index.html': '' }),
    ).toBe('always');
  });

  it('counts only links in the base path that the site was built for', () => {
    const files = new Set(['index.html', 'a/index.html', 'b/index.html']);
    const votesAt = (basePath: string) => {
      const votes = new TrailingSlashVotes(files, basePath);
      votes.addPage('index.html', link('/docs/a/', '/docs/b/', '/a'));
      return votes.decide();
    };
    expect([votesAt('/docs/'), votesAt('/')]).toEqual(['always', 'never']);
  });
});
