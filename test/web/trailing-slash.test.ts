import { describe, expect, it } from 'vitest';
import { TrailingSlashVotes } from '../../src/web/index.ts';

/** Decides for a site given as path -> HTML; other files by their path alone. */
function decide(pages: Readonly<Record<string, string>>, others: readonly string[] = []) {
  const votes = new TrailingSlashVotes(new Set([...Object.keys(pages), ...others]));
  for (const [path, html] of Object.entries(pages)) votes.addPage(path, html);
  return votes.decide();
}

const link = (...urls: string[]) => urls.map((url) => `<a href="${url}">x</a>`).join('');

describe('TrailingSlashVotes', () => {
  it('never, where links to folder pages have no slash', () => {
    expect(decide({ 'index.html': link('/a', '/b'), 'a/index.html': link('/b'), 'b/index.html': '' })).toBe('never');
  });

  it('always, where links to folder pages have their slash', () => {
    expect(decide({ 'index.html': link('/a/', '/b/'), 'a/index.html': link('/b/#x'), 'b/index.html': '' })).toBe(
      'always',
    );
  });

  it('goes with the majority', () => {
    expect(decide({ 'index.html': link('/a', '/b', '/b/'), 'a/index.html': '', 'b/index.html': '' })).toBe('never');
    expect(decide({ 'index.html': link('/a', '/a/', '/b/'), 'a/index.html': '', 'b/index.html': '' })).toBe('always');
  });

  it('counts what canonicals say, under a prefix too', () => {
    const canonical = (url: string) => `<link rel="canonical" href="${url}">`;
    expect(decide({ 'a/index.html': canonical('https://x.dev/docs/a/') })).toBe('always');
    expect(decide({ 'a/index.html': `${canonical('https://x.dev/docs/a')}${link('x.png', 'y.png')}` })).toBe('never');
  });

  it("counts absolute links to the host of the page's own canonical, and to no other", () => {
    const page = (host: string) => `<link rel=canonical href="https://x.dev/">${link(`https://${host}/a/`)}`;
    expect(decide({ 'index.html': page('x.dev'), 'a/index.html': '' })).toBe('always');
    expect(decide({ 'index.html': page('y.dev') + link('/c.html'), 'a/index.html': '', 'c.html': '' })).toBe('never');
  });

  it('always, where relative references in folder pages need it', () => {
    expect(decide({ 'a/index.html': '<img src="x.png">' }, ['a/x.png'])).toBe('always');
  });

  it('never, where relative references in folder pages resolve only without it', () => {
    expect(decide({ 'a/index.html': '<img src="x.png">' }, ['x.png'])).toBe('never');
  });

  it('rather redirects than breaks: a picture that needs the slash outweighs a few links without it', () => {
    expect(decide({ 'index.html': link('/a', '/a', '/a'), 'a/index.html': '<img src="x.png">' }, ['a/x.png'])).toBe(
      'always',
    );
  });

  it('does not count a link to a page beside the folder', () => {
    const pages = { 'index.html': link('/a', '/a', '/b/'), 'a.html': '', 'a/index.html': '', 'b/index.html': '' };
    expect(decide(pages)).toBe('always');
  });

  it('does not count what is relative in a folder 404 page, which is answered anywhere', () => {
    expect(
      decide({ 'index.html': link('/a'), 'a/index.html': '', '404/index.html': '<img src=x.png>' }, ['404/x.png']),
    ).toBe('never');
  });

  it('resolves relative references against <base>', () => {
    expect(decide({ 'a/index.html': `<base href="/">${link('b')}`, 'b/index.html': '' })).toBe('never');
  });

  it('without folder pages: always for relative sites, never for absolute ones', () => {
    expect(decide({ 'index.html': link('a.html'), 'a.html': link('index.html') })).toBe('always');
    expect(decide({ 'index.html': link('/a'), 'a.html': link('/') })).toBe('never');
    expect(decide({})).toBe('never');
  });

  it('reads past links that are no addresses', () => {
    expect(
      decide({ 'index.html': link('http://[', '/%ff', 'mailto:a@b', 'javascript:0', '#x', '/a/'), 'a/index.html': '' }),
    ).toBe('always');
  });

  it('looks for links below the base path that the site was built for, and for no other', () => {
    const files = new Set(['index.html', 'a/index.html', 'b/index.html']);
    const votesAt = (basePath: string) => {
      const votes = new TrailingSlashVotes(files, basePath);
      votes.addPage('index.html', link('/docs/a/', '/docs/b/', '/a'));
      return votes.decide();
    };
    expect([votesAt('/docs/'), votesAt('/')]).toEqual(['always', 'never']);
  });
});
