import { beforeAll, describe, expect, it } from 'vitest';
import { BundledSearchSurvey } from '../../src/web/own-search.ts';
import { hasChromium, useChromium, whyNoChromium } from './reader.ts';
import { SearchBoxSite } from './search-box-site.ts';

/** Set by a script, because the pages allow no inline style. */
const SIZE = 'data-sized';
const SIZES = "document.querySelector('[data-sized]').style.cssText = 'display:inline-block;width:220px;height:36px'";

/** Markup of search boxes by kind, the selector of the box, and files of such a site. */
const KINDS: readonly [kind: string, markup: string, theirs: string, files?: readonly string[]][] = [
  [
    'DocSearch',
    `<div id="docsearch" ${SIZE}><button class="DocSearch DocSearch-Button">Search</button></div>`,
    '#docsearch',
  ],
  [
    'Algolia',
    `<script type="text/plain" src="/algoliasearch.umd.js"></script><div class="aa-Autocomplete" ${SIZE}><input type="search" aria-label="Search"></div>`,
    '.aa-Autocomplete',
  ],
  ['Mintlify', `<button type="button" id="search-bar-entry" ${SIZE}>Search…</button>`, 'button'],
  ['Pagefind', `<site-search><button data-open-modal ${SIZE}>Search</button></site-search>`, 'button'],
  ['Nextra', `<div class="nextra-search" ${SIZE}><input type="search" aria-label="Search"></div>`, '.nextra-search'],
  [
    'Docusaurus, local search',
    `<div class="navbar__items--right"><div class="navbar__search" ${SIZE}><input class="navbar__search-input" aria-label="Search"></div></div>`,
    '.navbar__search',
  ],
  [
    'Material for MkDocs',
    `<div class="md-search" data-md-component="search" ${SIZE}><input class="md-search__input" aria-label="Search"></div>`,
    '.md-search',
  ],
  [
    'lunr',
    `<a href="#" data-target="#mkdocs_search_modal" ${SIZE}>Search</a><input type="hidden" id="mkdocs-search-query">`,
    'a',
  ],
  [
    'Sphinx',
    `<form class="search" action="search.html" method="get" ${SIZE}><input name="q" aria-label="Search"><input type="submit" value="Go"></form>`,
    'form',
  ],
  ['mdBook', `<button id="search-toggle" class="icon-button" type="button" ${SIZE}>Search</button>`, 'button'],
  [
    'VitePress, local search',
    `<div class="VPNavBarSearch search"><button class="DocSearch DocSearch-Button" ${SIZE}>Search</button></div>`,
    'button',
    ['assets/chunks/VPLocalSearchBox.Bq1x.js'],
  ],
  [
    'VitePress, DocSearch',
    `<div class="VPNavBarSearch search"><button class="DocSearch DocSearch-Button" ${SIZE}>Search</button></div>`,
    'button',
    ['assets/chunks/VPAlgoliaSearchBox.Bq1x.js'],
  ],
];

describe.skipIf(!hasChromium)(
  `the search box of docshelf on a page that has the search of a site generator${whyNoChromium}`,
  () => {
    const chromium = useChromium();
    let site: SearchBoxSite;

    beforeAll(async () => {
      site = await SearchBoxSite.start();
    });

    it.each(KINDS)('replaces the search of %s', async (kind, markup, theirs, files = []) => {
      const survey = new BundledSearchSurvey(1);
      for (const path of ['index.html', ...files]) survey.add(path);
      const found = survey.judge([`<!doctype html><body>${markup}</body>`]);
      expect(found.map((each) => each.kind)).toEqual([kind]);
      const attributes = `data-replace='${found[0]?.boxes}'`;
      const sizes = `<script src="${site.addScript('sizes.js', SIZES)}"></script>`;
      const body = `<header>${markup}</header>${sizes}<h1>A</h1>`;
      const path = site.add(kind.replaceAll(/\W+/g, '-'), { body, attributes });
      const reader = await chromium.open(site.origin, {});
      await reader.load(path);
      const { page } = reader;
      const [box, button] = [
        page.locator('header').locator(theirs).first(),
        page.locator('docshelf-search').getByRole('link'),
      ];
      await button.waitFor();
      expect(await box.evaluate((node) => getComputedStyle(node).visibility)).toBe('hidden');
      const [room, ours] = [await box.boundingBox(), await button.boundingBox()];
      if (room === null || ours === null) throw new Error('one of the two has no place');
      expect([ours.x + ours.width, ours.y + ours.height / 2].map(Math.round)).toEqual(
        [room.x + room.width, room.y + room.height / 2].map(Math.round),
      );
      const dialog = page.getByRole('dialog').filter({ has: page.getByRole('combobox') });
      await button.click();
      await dialog.waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await page.keyboard.press('/');
      await dialog.waitFor();
      expect([reader.failures, reader.complaints, reader.blocked]).toEqual([[], [], []]);
    });
  },
);
