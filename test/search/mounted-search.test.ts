import { expect, it } from 'vitest';
import { MountedSearch, type Search } from '../../src/search/index.ts';

it("leads below the site's base path as it is now, and leaves whole addresses", async () => {
  const metadata = { score: 1, title: '', headings: [], version: null, language: null, tags: [], highlights: [] };
  const paths = ['/guides/start#keys', 'https://docs.acme.dev/guides/start'];
  const search: Search = { search: async () => ({ results: paths.map((path) => ({ content: '', path, metadata })) }) };
  let basePath = '/docs/';
  const mounted = new MountedSearch(search, () => basePath);
  const found = async (): Promise<string[]> => {
    const filter = { version: null, language: null, tag: null };
    const request = { query: 'a', pageSize: 10, scoreThreshold: null, filter, prefixLast: false };
    return (await mounted.search(request, new AbortController().signal)).results.map(({ path }) => path);
  };
  expect(await found()).toEqual(['/docs/guides/start#keys', paths[1]]);
  basePath = '/';
  expect(await found()).toEqual(paths);
});
