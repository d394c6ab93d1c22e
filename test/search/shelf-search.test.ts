import { expect, it } from 'vitest';
import { DocshelfError } from '../../src/domain/errors.ts';
import { searchRequestOf } from '../../src/domain/search.ts';
import {
  NO_FACTS,
  readAnswer,
  type Search,
  type SearchFacts,
  type ShelfResult,
  ShelfSearch,
  writeAnswer,
} from '../../src/search/index.ts';
import type { SearchedSite } from '../../src/search/shelf-search.ts';

const REQUEST = searchRequestOf({ query: 'lantern', pageSize: 3 });
const NEVER = new AbortController().signal;

/** Returns pages with these scores. */
function answering(...scores: number[]): Search {
  const results = scores.map((score, at) => ({
    content: '',
    path: `/p${at}`,
    metadata: { score, title: '', headings: [], version: null, language: null, tags: [], highlights: [] },
  }));
  return { search: async () => writeAnswer(results) };
}

function failing(code: 'index_building' | 'queue_full'): Search {
  return { search: () => Promise.reject(new DocshelfError(code, 'Cannot search now')) };
}

const pathsOf = async (sites: readonly SearchedSite[]) => {
  const { results } = readAnswer(await new ShelfSearch(() => sites).search(REQUEST, NEVER));
  return (results as readonly ShelfResult[]).map(({ site, path }) => `${site}${path}`);
};

it('ShelfSearch (search over all sites) searches all sites and merges their results into one page of results', async () => {
  const sites = [
    { site: 'acme', search: answering(0.9, 0.8) },
    { site: 'beta', search: answering(0.5, 0.4) },
  ];
  expect(await pathsOf(sites)).toEqual(['acme/p0', 'beta/p0', 'acme/p1']);
});

it('ShelfSearch (search over all sites) orders results of equal rank by score, and equal scores by the order of the sites', async () => {
  const sites = [
    { site: 'acme', search: answering(0.5, 0.4) },
    { site: 'none', search: answering() },
    { site: 'beta', search: answering(0.9) },
    { site: 'gamma', search: answering(0.5) },
  ];
  expect(await pathsOf(sites)).toEqual(['beta/p0', 'acme/p0', 'gamma/p0']);
});

it('ShelfSearch (search over all sites) ignores a site whose search is unavailable', async () => {
  const sites = [
    { site: 'acme', search: failing('index_building') },
    { site: 'beta', search: answering(0.5) },
  ];
  expect(await pathsOf(sites)).toEqual(['beta/p0']);
});

it('ShelfSearch (search over all sites) throws the first error if every site fails, and returns no results if there are no sites', async () => {
  const sites = [
    { site: 'acme', search: failing('index_building') },
    { site: 'beta', search: failing('queue_full') },
  ];
  await expect(pathsOf(sites)).rejects.toMatchObject({ code: 'index_building' });
  expect(await pathsOf([])).toEqual([]);
});

it('ShelfSearch (search over all sites) throws the reason of the abort signal', async () => {
  const signal = AbortSignal.abort(new Error('gone'));
  const shelf = new ShelfSearch(() => [{ site: 'acme', search: answering(0.9) }]);
  await expect(shelf.search(REQUEST, signal)).rejects.toThrow('gone');
});

it('ShelfSearch (search over all sites) merges the facets of all sites, and returns whether any site searches by meaning', async () => {
  const telling = (facts: SearchFacts): Search => ({ search: async () => writeAnswer([], facts) });
  const facets = { languages: ['en', 'de'], versions: ['1', '2'], tags: ['a', 'b'] };
  const sites = [
    { site: 'acme', search: telling({ ...NO_FACTS, facets }) },
    {
      site: 'beta',
      search: telling({
        ...{ corrected: 'lantern', excluded: ['oil'], inclusive: 'lantern oil' },
        ...{ facets: { ...facets, languages: ['fr', 'de'] }, semantic: true },
      }),
    },
    { site: 'gamma', search: answering() },
  ];
  const shelf = new ShelfSearch(() => sites);
  expect(readAnswer(await shelf.search({ ...REQUEST, wantsFacts: true }, NEVER))).toEqual({
    results: [],
    facts: {
      ...{ corrected: 'lantern', excluded: ['oil'], inclusive: 'lantern oil' },
      ...{ facets: { languages: ['en', 'de', 'fr'], versions: [], tags: [] }, semantic: true },
    },
  });
  expect(readAnswer(await shelf.search(REQUEST, NEVER))).toEqual({ results: [] });
});
