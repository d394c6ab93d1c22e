import type { BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGLISH, PAGE_LANGUAGES } from '../../src/web/words/index.ts';
import { bundle } from '../acceptance/bundles.ts';
import { siteEntry, startServing } from '../acceptance/start.ts';
import { reportViolations } from '../helpers/accessibility.ts';
import { openBench } from '../helpers/daemon.ts';
import { hasChromium, useChromium, whyNoChromium } from './reader.ts';

/** Query in each language, and a misspelled word. */
const SITES = [
  {
    tag: 'en',
    dir: 'ltr',
    word: 'archive',
    typo: 'archvie',
    text: 'An archive is read whole before anything is kept.',
  },
  { tag: 'de', dir: 'ltr', word: 'ablage', typo: 'albage', text: 'Die Ablage wird für jede Fassung ganz gelesen.' },
  { tag: 'fa', dir: 'rtl', word: 'بایگانی', typo: 'بایگنی', text: 'بایگانی پیش از نگه‌داری کامل خوانده می‌شود.' },
] as const;
function pageOf({ tag, dir, text, word }: (typeof SITES)[number], title: string): string {
  const code = `const ${'veryLongName'.repeat(12)} = open("${word}");`;
  return `<!doctype html><html lang="${tag}" dir="${dir}"><head><meta charset="utf-8"><title>${title}</title></head><body><main><h1>${title}</h1><p>${text}</p><h2 id="more">${word}: ${title}</h2><p>${text.repeat(4)}</p><pre><code>${code}</code></pre></main></body></html>`;
}

describe.skipIf(!hasChromium)(`the search results page of the running program${whyNoChromium}`, () => {
  const bench = openBench(afterAll);
  const chromium = useChromium();
  let origin: string;

  beforeAll(async () => {
    const archives = SITES.map((site) => {
      const pages = { 'index.html': pageOf(site, 'One'), 'guides/start.html': pageOf(site, 'Two') };
      // A second language, so that the filter is shown.
      const other = SITES[(SITES.indexOf(site) + 1) % SITES.length] ?? site;
      return [`${site.tag}/v1.tar.gz`, bundle(site.tag, { ...pages, 'other.html': pageOf(other, 'Other') })] as const;
    });
    const sites = SITES.map(({ tag }) => siteEntry(tag));
    const config = { sites, search: { widget: true }, features: { enforce: 'on' }, log: { access: false } };
    origin = (await startServing(bench, Object.fromEntries(archives), config)).site;
  });

  async function open(path: string, profile: BrowserContextOptions) {
    const reader = await chromium.open(origin, profile);
    await reader.page.goto(origin + path);
    return reader;
  }

  it('is linked from each page without scripts, except in print', async () => {
    const { page } = await open('/de/guides/start', { javaScriptEnabled: false });
    const link = page.getByRole('link', { name: 'Suchen' });
    await page.emulateMedia({ media: 'print' });
    expect(await link.isVisible()).toBe(false);
    await page.emulateMedia({ media: 'screen' });
    await link.click();
    await page.waitForURL(`${origin}/de/_docshelf/search`);
  });

  it('is linked visibly from a page without JavaScript, even if a fixed side column covers the left third of that page', async () => {
    const { page } = await open('/de/guides/start', { javaScriptEnabled: false });
    await page.evaluate("document.querySelector('main').style = 'position: fixed; inset: 0 66% 0 0; z-index: 1'");
    await page.getByRole('link', { name: 'Suchen' }).click({ timeout: 5000 });
    await page.waitForURL(`${origin}/de/_docshelf/search`);
  });

  it.each(SITES)(
    'lets readers without JavaScript search from a 404 page and open the found section, in the language $tag',
    async ({ tag, word, typo, dir }) => {
      const { words, direction } = PAGE_LANGUAGES.find((each) => each.tag === tag) ?? ENGLISH;
      const { page, complaints, blocked } = await open(`/${tag}/nowhere`, { javaScriptEnabled: false });
      const field = page.getByRole('searchbox', { name: words.searchBox.label });
      await field.fill(typo);
      await page.keyboard.press('Enter');
      await page.waitForURL('**/_docshelf/search?*');
      expect([await page.locator('html').getAttribute('lang'), direction]).toEqual([tag, dir]);
      await page.locator('main').getByRole('link', { name: word, exact: true }).click();
      await page.waitForURL(({ searchParams }) => searchParams.get('q') === word);
      const results = page.locator('#results');
      expect(await results.locator('mark').first().innerText()).toMatch(new RegExp(word, 'i'));
      await page.getByRole('combobox', { name: words.searchBox.language }).selectOption(tag);
      await field.press('Enter');
      await page.waitForURL(({ searchParams }) => searchParams.get('language') === tag);
      await results.locator('li a').first().click();
      await page.waitForURL(/#more$/);
      expect([page.url().startsWith(`${origin}/${tag}/`), complaints, blocked]).toEqual([true, [], []]);
    },
  );

  it.each(SITES)(
    'passes the accessibility checks, light and dark, on a screen and on a phone, in the language $tag',
    async ({ tag, word, typo }) => {
      const { page } = await open(`/${tag}/_docshelf/search?q=${encodeURIComponent(typo)}`, {});
      expect(await reportViolations(page)).toEqual([]);
      await page.goto(`${origin}/${tag}/_docshelf/search?q=${encodeURIComponent(word)}`);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        for (const width of [1280, 390]) {
          await page.setViewportSize({ width, height: 844 });
          expect([colorScheme, width, await reportViolations(page)]).toEqual([colorScheme, width, []]);
        }
      }
    },
  );
});
