import type { BrowserContextOptions, Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportViolations } from '../helpers/accessibility.ts';
import { bundleFile, corpus, whyNoCorpus } from '../helpers/corpus.ts';
import { type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { BOXED_SITES, type BoxedSite } from './boxed-sites.ts';
import { hasChromium, useChromium, whyNoChromium } from './reader.ts';
import { startShelf } from './shelf-of-bundles.ts';

const DESKTOP: BrowserContextOptions = { viewport: { width: 1440, height: 900 } };
const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const SETUP_MS_MAX = 600_000;

/** Layout shifts of the page's own elements, as the browser counts them. */
const SHIFTS = `
  window.shifted = 0;
  window.shiftedBy = [];
  const placeOf = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join();
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries()) {
      const own = sources.filter(({ node }) => node !== null);
      if (own.length > 0) window.shifted += value;
      for (const { node, previousRect, currentRect } of own)
        window.shiftedBy.push([node.localName ?? node.data, placeOf(previousRect), placeOf(currentRect)].join(' '));
    }
  }).observe({ type: 'layout-shift', buffered: true });
`;
/** Maximum number of visits, because fonts and scripts of a site load in a different order each time. */
const VISITS_MAX = 20;
/** Scripts of docshelf that block rendering. */
const BLOCKING = `performance.getEntriesByType('resource')
  .filter(({ name, renderBlockingStatus }) => name.includes('/_docshelf/') && renderBlockingStatus !== 'non-blocking')
  .map(({ name }) => name)`;
/** Change of the page by the element: how far elements move down, elements that move to another side, and more width. */
const movedBy = (selector: string): string => `(() => {
  const places = () => Array.from(document.querySelectorAll('body :not(docshelf-search, docshelf-search-dialog)'), (node) => {
    const { x, y, width } = node.getBoundingClientRect();
    // Elements without a width, such as announcers for screen readers, may have any place.
    return { name: node.tagName, side: width > 0 ? [x, width].map(Math.round).join() : '', y: width > 0 ? y : 0 };
  });
  const { documentElement: root } = document;
  const { style } = document.querySelector(${JSON.stringify(selector)});
  const [before, wide, { display }] = [places(), root.scrollWidth, style];
  style.display = 'none';
  const after = places();
  const narrow = root.scrollWidth;
  style.display = display;
  return {
    down: Math.round(Math.max(...before.map(({ y }, at) => Math.abs(y - after[at].y)))),
    aside: before.filter(({ side }, at) => side !== after[at].side).map(({ name }) => name),
    wider: wide - narrow,
  };
})()`;
const NOTHING = { down: 0, aside: [], wider: 0 };
/** Height of one line of a large title. Next to the link, a title can need one more. */
const LINE_PX_MAX = 60;
const EMPTY_PX = 2;
/** Below this sum, browsers call the layout of a page stable. */
const SHIFT_MAX = 0.1;
/** Texts of the page under the link. The box of a text is higher than its letters, by an amount that depends on the font. */
const COVERED = `(() => {
  const own = document.querySelector('docshelf-search').shadowRoot.querySelector('a').getBoundingClientRect();
  const isUnder = ({ left, right, top, bottom }) =>
    left < own.right && right > own.left && top + ${EMPTY_PX} < own.bottom && bottom - ${EMPTY_PX} > own.top;
  const covered = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data, parentElement } = texts.currentNode;
    if (!data.trim() || !parentElement.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    if ([...range.getClientRects()].some(isUnder)) covered.push(data);
  }
  return covered;
})()`;
/** Middle of the link in the visible part of the page, and whether it is visible. */
const MIDDLE = `(() => {
  const link = document.querySelector('docshelf-search').shadowRoot.querySelector('a');
  link.scrollIntoView({ block: 'center', behavior: 'instant' });
  const { x, y, width, height } = link.getBoundingClientRect();
  const { offsetLeft, offsetTop, width: shown } = visualViewport;
  const [left, top] = [x + width / 2 - offsetLeft, y + height / 2 - offsetTop];
  return [left, top, left > 0 && left < shown];
})()`;
/** True if the section is at most one window height from the visible part, because the scroll target may be its text. */
const IS_SECTION_SHOWN = `(() => {
  const { top, bottom } = document.getElementById(decodeURIComponent(location.hash.slice(1))).getBoundingClientRect();
  return -bottom < innerHeight && top < 2 * innerHeight;
})()`;

describe.skipIf(corpus === undefined || !hasChromium)(
  `the search box on public sites with enforce: on${whyNoCorpus}${whyNoChromium}`,
  () => {
    const bench = openBench(afterAll);
    const chromium = useChromium();
    let daemon: DaemonProcess;

    beforeAll(async () => {
      const bundles = BOXED_SITES.map(({ archive, domain }) => ({
        archive: bundleFile(archive),
        entry: { domain, basePath: `/${domain}/` },
      }));
      daemon = await startShelf(bench, bundles, { search: { widget: true }, features: { enforce: 'on' } });
    }, SETUP_MS_MAX);

    /** @param withBox false omits docshelf's script */
    async function open(site: BoxedSite, path: string, profile: BrowserContextOptions, withBox = true) {
      const { domain, hasRun } = site;
      // Other bundles are still being imported.
      await daemon.until(({ sites = [] }) =>
        sites.some(({ deployment, state }) => deployment.domain === domain && state === 'ready'),
      );
      const reader = await chromium.open(daemon.site, profile);
      const { page } = reader;
      const base = `${daemon.site}/${domain}/`;
      if (!withBox)
        await page.route('**/loader.js', (route) => route.fulfill({ contentType: 'text/javascript', body: '' }));
      await page.addInitScript(SHIFTS);
      await page.goto(base + path);
      await page.waitForFunction(hasRun);
      if (withBox) await page.locator('docshelf-search').getByRole('link').waitFor();
      const dialog = page.getByRole('dialog');
      const options = page.locator('docshelf-search-dialog [role=option]');
      return {
        reader,
        page,
        base,
        dialog,
        options,
        button: page.locator('docshelf-search').getByRole('link'),
        find: async (query: string) => {
          await dialog.locator('input').waitFor();
          await page.keyboard.type(query);
          await options.nth(1).waitFor();
          expect(await page.evaluate(movedBy('docshelf-search-dialog'))).toEqual(NOTHING);
        },
        /** Opens the link of an option, and expects its section to be visible. */
        expectSection: async (option: Locator, section: string, follow: () => Promise<void>) => {
          const address = (await option.getAttribute('href'))?.split(':~:')[0];
          expect(address).toBe(base + section);
          await follow();
          await page.waitForURL(({ href }) => href.split(':~:')[0] === address);
          await page.waitForFunction(hasRun);
          await page.waitForFunction(IS_SECTION_SHOWN);
        },
        /** Expects the link in a known header, where it takes no space, or at the title. It covers no text. */
        expectPlace: async () => {
          const isAtTitle = await page.locator('docshelf-search[role=search]').isVisible();
          const { down, ...moved } = (await page.evaluate(movedBy('docshelf-search'))) as typeof NOTHING;
          expect({ down: 0, ...moved }).toEqual(NOTHING);
          expect(down).toBeLessThanOrEqual(isAtTitle ? LINE_PX_MAX : 0);
          expect(await page.evaluate(COVERED)).toEqual([]);
        },
        /** Layout shifts that also occur without the box belong to the site. */
        expectStill: async () => {
          await page.waitForLoadState('load');
          const [shifts, by] = (await page.evaluate('[window.shifted, window.shiftedBy]')) as [number, string[]];
          const isAtTitle = await page.locator('docshelf-search[role=search]').isVisible();
          const shifted = shifts - (isAtTitle ? SHIFT_MAX : 0);
          let without = 0;
          for (let visits = 0; without < shifted && visits < VISITS_MAX; visits += 1) {
            const { reader: visitor, page: plain } = await open(site, path, profile, false);
            await plain.waitForLoadState('networkidle');
            without = Math.max(without, (await plain.evaluate('window.shifted')) as number);
            await visitor.close();
          }
          expect(shifted, by.join('; ')).toBeLessThanOrEqual(without);
          expect(await page.evaluate(BLOCKING)).toEqual([]);
        },
        /** Console errors that also occur without the box belong to the site. */
        expectQuiet: async () => {
          const problems = [...reader.complaints, ...reader.blocked];
          const known: string[] = [];
          for (const seen of problems.length > 0 ? [path, page.url().slice(base.length)] : []) {
            const { complaints, blocked } = (await open(site, seen, profile, false)).reader;
            known.push(...complaints, ...blocked);
          }
          expect([
            problems.filter((each) => !known.includes(each)),
            reader.failures.filter(({ path: failed }) => failed.includes('_docshelf/')),
          ]).toEqual([[], []]);
        },
      };
    }

    it.each(BOXED_SITES)(
      '$domain: opens a section with the keyboard alone, and the link of the search box covers no text',
      async (site) => {
        const { start, room, other, go, query, found, domain } = site;
        const { page, base, button, options, find, expectPlace, expectSection, expectStill, expectQuiet } = await open(
          site,
          start,
          DESKTOP,
        );
        await expectStill();
        expect(await page.locator(`:is(${room}) > docshelf-search, :is(${room}) > * > docshelf-search`).count()).toBe(
          1,
        );
        await expectPlace();
        const isOnTop = await button.evaluate((node) => {
          const { x, y, width, height } = node.getBoundingClientRect();
          return [0.05, 0.5, 0.95].every(
            (part) => document.elementFromPoint(x + width * part, y + height / 2)?.localName === 'docshelf-search',
          );
        });
        expect(isOnTop).toBe(true);
        // Remove the box, like a framework that renders the header again.
        await page.evaluate("document.querySelector('docshelf-search').remove()");
        await button.waitFor();
        if (go !== null) {
          await page.evaluate(`(${go})('/${domain}/${other}', '/${domain}/')`);
          await page.waitForURL(base + other);
          await button.waitFor();
          await page.waitForFunction("document.querySelectorAll('docshelf-search').length === 1");
        }
        await page.keyboard.press('Control+k');
        await find(query);
        if (go === null) await expectStill();
        expect(await reportViolations(page, { part: 'docshelf-search-dialog' })).toEqual([]);
        await page.keyboard.press('ArrowDown');
        await expectSection(options.nth(1), found[1], () => page.keyboard.press('Enter'));
        await button.waitFor();
        await expectQuiet();
      },
    );

    it.each(BOXED_SITES)('$domain: opens a section by taps on a phone', async (site) => {
      const { page, dialog, options, find, expectPlace, expectSection, expectStill, expectQuiet } = await open(
        site,
        site.start,
        PHONE,
      );
      await expectPlace();
      const [left, top, isShown] = (await page.evaluate(MIDDLE)) as [number, number, boolean];
      expect(isShown).toBe(true);
      await page.touchscreen.tap(left, top);
      await find(site.query);
      // A page without a mobile layout is scaled down. The dialog must still cover 390 by 844 pixels of the screen.
      const { scale } = (await page.evaluate('({ scale: visualViewport.scale })')) as { scale: number };
      const { x, y, width, height } = (await dialog.boundingBox()) ?? { x: 1, y: 1, width: 1, height: 1 };
      expect([x, y, Math.round(width * scale), Math.round(height * scale)]).toEqual([0, 0, 390, 844]);
      await expectStill();
      await expectSection(options.first(), site.found[0], () => options.first().tap());
      await expectQuiet();
    });

    it.each(BOXED_SITES.filter((site) => 'rightToLeft' in site))(
      '$domain: works in a page with text from right to left',
      async (site) => {
        const { start, query, found } = site.rightToLeft as NonNullable<BoxedSite['rightToLeft']>;
        const { page, button, dialog, options, find, expectPlace, expectSection, expectStill, expectQuiet } =
          await open(site, start, DESKTOP);
        await expectPlace();
        await button.focus();
        await page.keyboard.press('Enter');
        await find(query);
        await expectStill();
        expect(await dialog.getAttribute('dir')).toBe('rtl');
        expect(await reportViolations(page, { part: 'docshelf-search-dialog' })).toEqual([]);
        expect(await options.first().evaluate((node) => getComputedStyle(node).direction)).toBe('rtl');
        await expectSection(options.first(), found, () => page.keyboard.press('Enter'));
        await expectQuiet();
      },
    );
  },
);
