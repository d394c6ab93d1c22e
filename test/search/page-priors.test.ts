import { describe, expect, it } from 'vitest';
import { linkPrints, PagePriors } from '../../src/search/indexing/page-priors.ts';

const prints = (...links: readonly string[]) => linkPrints(links);
const PAGES = ['/', '/a', '/b/', '/c.html', '/unread'];

describe('PagePriors', () => {
  it('weigh pages by the logarithm of their incoming links, in any form of the address', () => {
    const priors = new PagePriors(PAGES);
    priors.add(0, prints('/a', '/b', '/c', '/nowhere'));
    priors.add(1, prints('/b/index.html', '/c.html#x', '/'));
    priors.add(2, prints('/c'));
    priors.add(3, prints());
    const decided = priors.decide();
    expect(decided.get('/c.html')).toBe(1);
    expect(decided.get('/b/')).toBe(Math.log1p(2) / Math.log1p(3));
    expect(decided.get('/a')).toBe(Math.log1p(1) / Math.log1p(3));
    expect([...decided.keys()].sort()).toEqual(['/', '/a', '/b/', '/c.html']);
  });

  it('do not count links of a page to itself, or links from pages without sections', () => {
    const priors = new PagePriors(PAGES);
    priors.add(1, prints('/a', '/a/', '/unread'));
    priors.add(3, prints('/a'));
    expect([...priors.decide()]).toEqual([['/a', 1]]);
  });

  it('assign links to an address that two pages share to the last of these pages', () => {
    const priors = new PagePriors(['/x', '/x/']);
    priors.add(0, prints('/x/'));
    priors.add(1, prints('/x'));
    expect([...priors.decide()]).toEqual([['/x/', 1]]);
  });
});
