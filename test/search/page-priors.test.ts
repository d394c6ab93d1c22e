import { describe, expect, it } from 'vitest';
import { isSecondary, PagePriors } from '../../src/search/indexing/page-priors.ts';
import { SECONDARY_PRIOR } from '../../src/search/keyword/ranking.ts';

const PAGES = ['/', '/a', '/b/', '/c.html', '/unread'];

describe('PagePriors (weight of each page in the search)', () => {
  it('weigh a page by the logarithm of the number of links to any of its addresses, such as /b/ and /b/index.html', () => {
    const priors = new PagePriors(PAGES);
    priors.add('/', ['/a', '/b', '/c', '/nowhere']);
    priors.add('/a', ['/b/index.html', '/c.html#x', '/']);
    priors.add('/b/', ['/c']);
    priors.add('/c.html', []);
    const decided = priors.decide();
    expect(decided.get('/c.html')).toBe(1);
    expect(decided.get('/b/')).toBe(Math.log1p(2) / Math.log1p(3));
    expect(decided.get('/a')).toBe(Math.log1p(1) / Math.log1p(3));
    expect([...decided.keys()].sort()).toEqual(['/', '/a', '/b/', '/c.html']);
  });

  it('do not count links of a page to itself, or links from pages without sections', () => {
    const priors = new PagePriors(PAGES);
    priors.add('/a', ['/a', '/a/', '/unread']);
    priors.add('/c.html', ['/a']);
    expect([...priors.decide()]).toEqual([['/a', 1]]);
  });

  it('count a link for the page that was added last if the address of the link belongs to two pages', () => {
    const priors = new PagePriors(['/x', '/x/']);
    priors.add('/x', ['/x/']);
    priors.add('/x/', ['/x']);
    expect([...priors.decide()]).toEqual([['/x/', 1]]);
  });

  it('give a secondary page such as a change log a lower weight than ordinary pages', () => {
    const priors = new PagePriors(['/a', '/changes', '/b']);
    priors.add('/a', ['/changes', '/b']);
    priors.add('/changes', [], true);
    priors.add('/b', []);
    expect(Object.fromEntries(priors.decide())).toEqual({ '/changes': SECONDARY_PRIOR, '/b': 1 });
  });
});

describe('isSecondary() for pages such as change logs and glossaries', () => {
  it.each([
    '/changes.html',
    '/docs/changelog/',
    '/docs/2.0/release-notes/v2',
    '/whatsnew/3.12.html',
    '/release-15-3.html',
    '/glossary.html',
    '/genindex',
    '/docs/tags/api/',
    '/docs/category/basics',
    '/CHANGELOG.html',
    '/releases/1.0',
  ])('recognizes a secondary page by its address %s', (url) => {
    expect(isSecondary(url, 'Some title')).toBe(true);
  });

  it.each(['Changelog', 'Change Log', 'Release notes', 'What’s new in 2.0', 'Glossary', 'Index'])(
    'recognizes a secondary page by its title "%s"',
    (title) => {
      expect(isSecondary('/x', title)).toBe(true);
    },
  );

  it.each([
    ['/guides/release.html', 'Release a version'],
    ['/reference/tags.html', 'Tags'],
    ['/api/history.html', 'History'],
    ['/guides/exchanges.html', 'Exchanges'],
    ['/indexes.html', 'Indexes'],
    ['/sql-createindex.html', 'Index types'],
    ['/guides/changes-feed.html', 'Feed of changes'],
  ])('returns false for the page %s with the title "%s"', (url, title) => {
    expect(isSecondary(url, title)).toBe(false);
  });
});
