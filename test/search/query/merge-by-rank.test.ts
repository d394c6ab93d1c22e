import { expect, it } from 'vitest';
import type { SearchResult } from '../../../src/search/request.ts';
import { mergeByRank } from '../../../src/search/shelf-search.ts';

function result(path: string, score: number): SearchResult {
  const metadata = { score, title: '', headings: [], version: null, language: null, tags: [], highlights: [] };
  return { content: '', path, metadata };
}

/** `a1:0.9` is the page `/a1` with that score. */
const list = (site: string, ...results: string[]) => ({
  site,
  results: results.map((text) => result(`/${text.split(':')[0]}`, Number(text.split(':')[1]))),
});
const shown = (lists: Parameters<typeof mergeByRank>[0], resultsMax = 10) =>
  mergeByRank(lists, resultsMax).map(({ site, path }) => `${site}${path}`);

it('mergeByRank() puts the best result of each site before all second-best results, and adds the site name', () => {
  const acme = list('acme', 'a1:.9', 'a2:.8', 'a3:.7');
  const beta = list('beta', 'b1:.3', 'b2:.2');
  expect(shown([acme, beta])).toEqual(['acme/a1', 'beta/b1', 'acme/a2', 'beta/b2', 'acme/a3']);
  expect(mergeByRank([acme], 1)).toEqual([{ site: 'acme', ...result('/a1', 0.9) }]);
});

it('mergeByRank() orders results of equal rank by score, and equal scores by the order of the sites', () => {
  const lists = [list('acme', 'a1:.5'), list('beta', 'b1:.9'), list('gamma', 'c1:.5'), list('delta', 'd1:.5')];
  expect(shown(lists)).toEqual(['beta/b1', 'acme/a1', 'gamma/c1', 'delta/d1']);
  expect(shown(lists.toReversed())).toEqual(['beta/b1', 'delta/d1', 'gamma/c1', 'acme/a1']);
});

it('mergeByRank() keeps the requested number of results, the best of each rank first', () => {
  const lists = [list('acme', 'a1:.2', 'a2:.1'), list('beta', 'b1:.4'), list('gamma', 'c1:.3')];
  expect(shown(lists, 2)).toEqual(['beta/b1', 'gamma/c1']);
  expect(shown(lists, 4)).toEqual(['beta/b1', 'gamma/c1', 'acme/a1', 'acme/a2']);
});

it('mergeByRank() keeps pages of two sites with the same path, and does not change the input lists', () => {
  const lists = [list('acme', 'index:.5'), list('beta', 'index:.5')];
  const before = structuredClone(lists);
  expect(shown(lists)).toEqual(['acme/index', 'beta/index']);
  expect(lists).toEqual(before);
});

it('mergeByRank() returns no results if there are no sites, and ignores sites without results', () => {
  expect(shown([])).toEqual([]);
  expect(shown([list('acme'), list('beta', 'b1:.1')])).toEqual(['beta/b1']);
});
