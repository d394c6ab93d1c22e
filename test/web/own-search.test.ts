import { describe, expect, it } from 'vitest';
import { BundledSearchSurvey, failingSearches, OWN_SEARCH_KINDS } from '../../src/web/own-search.ts';

function judge(page: string, files: readonly string[] = []) {
  const survey = new BundledSearchSurvey(1);
  for (const path of ['index.html', ...files]) survey.add(path);
  expect(survey.pages).toEqual(['index.html']);
  return survey.judge([page]);
}

const ALGOLIA = 'assets/chunks/VPAlgoliaSearchBox.Dd80gY2X.js';
const LOCAL = 'assets/chunks/VPLocalSearchBox.C1a_9-xY.js';

describe('surveys of the built-in search of a site', () => {
  it.each([
    ['VitePress, DocSearch', '<div class="VPNavBarSearch search" data-v-1>', [ALGOLIA]],
    ['DocSearch', '<button type="button" class="DocSearch DocSearch-Button" aria-label="Search">', []],
    ['DocSearch', '<link rel=preconnect href=https://BH4D9OD16A-dsn.algolia.net crossorigin>', []],
    ['DocSearch', '<script src="https://cdn.jsdelivr.net/npm/@docsearch/js@3"></script>', []],
    ['Algolia', '<script src="https://cdn.jsdelivr.net/npm/algoliasearch@4/dist/algoliasearch-lite.umd.js">', []],
    ['Mintlify', '<button type="button" class="flex" id="search-bar-entry" aria-label="Open search">', []],
  ])('detect that %s uses a hosted service: %s', (kind, page, files) => {
    expect(judge(page, files)).toMatchObject([{ kind, state: 'hosted', needs: expect.stringMatching(/\./) }]);
  });

  it.each([
    [
      'VitePress, local search',
      '<div class="VPNavBarSearch">',
      [LOCAL],
      'assets/chunks/@localSearchIndexroot.BxpfmeNd.js',
    ],
    ['Pagefind', '<site-search class="a"><button data-open-modal>', [], 'pagefind/pagefind-entry.json'],
    ['Pagefind', '<script src="/docs/pagefind/pagefind-ui.js">', [], 'docs/pagefind/pagefind-entry.json'],
    ['Nextra', '<div class="nextra-search x:relative">', [], '_pagefind/pagefind-entry.json'],
    ['Nextra', '<div class="nextra-search nx-relative">', [], '_next/static/chunks/nextra-data-en-US.json'],
    ['Docusaurus, local search', '<input class="navbar__search-input searchInput_YFbd">', [], 'search-index.json'],
    [
      'Docusaurus, local search',
      '<input id=search_input_react class="navbar__search-input">',
      [],
      'search-doc-1716.json',
    ],
    ['Docusaurus, local search', '<div class=dsla-search-wrapper>', [], 'search-index-docs-default-current.json'],
    [
      'Material for MkDocs',
      '<div class="md-search" data-md-component="search" role="dialog">',
      [],
      'search/search_index.json',
    ],
    ['Sphinx', '<form class="search" action="../search.html" method="get">', [], 'searchindex.js'],
    ['Sphinx', '<form id="rtd-search-form" action="./search.html" method="get">', [], 'search/search_index.json'],
    ['lunr', '<input type="search" id="mkdocs-search-query" title="a">', [], 'search/search_index.json'],
    ['lunr', '<script id="search-ui-script" src="_/js/search-ui.js">', [], 'search-index.js'],
    ['lunr', '<input data-offline-search-index-json-src="/a.json">', [], 'offline-search-index.c3.json'],
    ['lunr', '<input type="text" id="search-input" class="search-input">', [], 'assets/js/search-data.json'],
    ['mdBook', '<button id="search-toggle" class="icon-button">', [], 'searchindex-1a2b3c4d.js'],
  ])('detect that %s needs its index file: %s', (kind, page, files, index) => {
    expect(judge(page, files)).toMatchObject([{ kind, state: 'no-index' }]);
    const there = judge(page, [...files, index]);
    expect(there).toMatchObject([{ kind, state: 'works' }]);
    expect(failingSearches(there)).toEqual([]);
  });

  it.each([
    ['a page without a search', '<h1>A page</h1><button id="menu">'],
    [
      'a text about a search',
      '<p>Style <code>.DocSearch-Button</code> and <code>docsearch.js</code>, search-bar-entry.</p>',
    ],
    ['VitePress without a search', '<div class="VPNavBarSearch"></div>'],
    ['a text about lunr', '<p>Write <code>id="mkdocs-search-query"</code> and <code>id="search-input"</code>.</p>'],
  ])('detect no search in %s', (_name, page) => {
    expect(judge(page)).toEqual([]);
  });

  it('read the selector of the search box from the script of the page', () => {
    const [docSearch] = judge(
      '<script src="/docsearch.js"></script><script>docsearch({ appId: "a", container: "#find" })</script>',
    );
    expect(docSearch?.boxes).toBe('.DocSearch-Button,#docsearch,#find');
    const [pagefind] = judge(
      '<script src="/pagefind/pagefind-ui.js"></script><script>new PagefindUI({ element: "#search" })</script>',
    );
    expect(pagefind?.boxes).toMatch(/,#search$/);
    const hostile = judge(
      '<script src="/docsearch.js"></script><script>docsearch({ container: "#a,body{}" })</script>',
    );
    expect(hostile[0]?.boxes).toBe('.DocSearch-Button,#docsearch');
  });

  it('read the start page, and an evenly spread sample of the other pages', () => {
    const survey = new BundledSearchSurvey(1_000);
    for (let page = 0; page < 999; page += 1) survey.add(`a/${page}.html`);
    survey.add('index.html');
    expect(survey.pages).toEqual(['a/0.html', 'a/200.html', 'a/400.html', 'a/600.html', 'a/800.html', 'index.html']);
  });

  it('finish quickly for a hostile page', () => {
    const parts = ['class=', '<a ', '<script ', '<form action=', 'docsearch({', '<button ', '<site-search', 'class="'];
    for (const part of parts) {
      const before = process.cpuUsage();
      judge(part.repeat((512 * 1024) / part.length));
      // Without a limit, this takes minutes.
      expect(process.cpuUsage(before).user / 1e6).toBeLessThan(20);
    }
  });

  it('find search boxes with selectors that contain only safe characters', () => {
    for (const { boxes } of OWN_SEARCH_KINDS) expect(boxes).toMatch(/^[\w#.[\]="$ ,-]+$/);
  });
});
