import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BuiltSite } from '../corpus/built-site.ts';
import { bundleFile, corpus, whyNoCorpus } from '../helpers/corpus.ts';
import { openBench } from '../helpers/daemon.ts';
import { readArchive } from '../helpers/read-archive.ts';
import { sideBySide } from '../helpers/side-by-side.ts';
import { spread } from '../helpers/spread.ts';
import { pageAddresses } from './live-site.ts';
import { MOUNTED_SITES, type MountedSite } from './mounted-sites.ts';
import { hasChromium, type Reader, useChromium, whyNoChromium } from './reader.ts';
import { serveBundles } from './shelf-of-bundles.ts';

/** `npm run soak` opens each page. CI opens one page of each template. */
const IS_SOAK = process.env.DOCSHELF_SOAK !== undefined;
const TABS = 4;
const TEST_MS_MAX = 1_800_000;
const MISSING = 'no/such-page';

const baseOf = ({ domain }: MountedSite): string => `/team/${domain}/`;

describe.skipIf(corpus === undefined || !hasChromium)(
  `public sites under a base path, five on one host${whyNoCorpus}${whyNoChromium}`,
  () => {
    const bench = openBench(afterAll);
    const chromium = useChromium();
    let origin: string;

    beforeAll(async () => {
      const bundles = MOUNTED_SITES.map((site) => ({
        archive: bundleFile(site.archive),
        entry: { domain: site.domain, basePath: baseOf(site) },
      }));
      origin = (await serveBundles(bench, bundles)).site;
    });

    describe.each(MOUNTED_SITES)('$domain', (mounted) => {
      const base = baseOf(mounted);
      const start = base + (mounted.templates[1] ?? '');
      let site: BuiltSite;
      let pages: readonly string[];
      beforeAll(async () => {
        site = new BuiltSite(await readArchive(bundleFile(mounted.archive)));
        const all = pageAddresses(site.files.keys(), { ...mounted, base });
        pages = IS_SOAK ? all : mounted.templates.map((path) => base + path);
      });

      it('opens its pages under the base path, and runs their scripts', { timeout: TEST_MS_MAX }, async () => {
        const startedMs = performance.now();
        const faults = await inTabs(
          site.files.has('404.html') ? [...pages, base + MISSING] : pages,
          async (tab, address) => {
            await tab.reader.load(address);
            return tab.faultsOfPage(address);
          },
        );
        report('opened', startedMs, faults);
        expect(faults).toEqual([]);
      });

      const itOfScripts = (act: () => Promise<void>): void => {
        if (mounted.go !== null) it('shows each page by client-side navigation', { timeout: TEST_MS_MAX }, act);
      };
      itOfScripts(async () => {
        const startedMs = performance.now();
        const faults: string[] = [];
        // A page without scripts is not part of the app, which shows its 404 page instead.
        const shown = pages.filter((address) => site.hasScripts(decodeURI(address).slice(base.length)));
        for (const ofOneApp of Map.groupBy(shown, appOf).values()) {
          const found = await inTabs(ofOneApp, async (tab, address) => {
            const { page } = tab.reader;
            const first = ofOneApp[0] ?? base;
            if (!page.url().startsWith(origin + base)) {
              await tab.reader.load(first);
              await tab.faultsOfPage(first);
            }
            await page.evaluate(() => Object.assign(window, { docshelfMark: true }));
            await page.evaluate(`(${mounted.go})(${JSON.stringify(address)}, ${JSON.stringify(base)})`);
            const ofPage = await tab.faultsOfPage(address);
            return (await isSameDocument(tab.reader)) ? ofPage : [...ofPage, 'came as a whole'];
          });
          faults.push(...found);
        }
        report('shown by scripts', startedMs, faults);
        expect(faults).toEqual([]);
      });

      it('resolves links like the original site, and resolves the home link to the base path', async () => {
        const tab = Tab.over(await chromium.open(origin), mounted, site);
        const { reader } = tab;
        await reader.load(start);
        const links = await linksOf(reader, mounted.within);
        const hrefs = links.filter((href) => appOf(new URL(href).pathname) === appOf(start));
        expect(hrefs.length).toBeGreaterThanOrEqual(mounted.clicks);
        const ways: boolean[] = [];
        for (const href of spread(hrefs, mounted.clicks)) {
          if ((await indexOfLink(reader, mounted.within, href)) === -1) await reader.load(start);
          ways.push(await click(reader, mounted.within, href));
          expect([href, await tab.faultsOfPage(new URL(href).pathname)]).toEqual([href, []]);
        }
        if (mounted.home !== undefined) {
          await reader.page.locator(mounted.home).first().click();
          await reader.page.waitForURL((url) => `${url.pathname.replace(/\/$/, '')}/` === base);
          ways.push(await isSameDocument(reader));
        }
        expect(ways).toEqual(ways.map(() => mounted.go !== null));
        expect(tab.faultsSoFar()).toEqual([]);
      });

      const appOf = (address: string): string => mounted.apps?.exec(address.slice(base.length))?.[0] ?? '';

      /** Runs a check in several tabs. @returns the errors, each with its page */
      async function inTabs(
        addresses: readonly string[],
        visit: (tab: Tab, address: string) => Promise<string[]>,
      ): Promise<string[]> {
        const count = Math.min(TABS, addresses.length);
        const readers = await Promise.all(Array.from({ length: count }, () => chromium.open(origin)));
        const free = readers.map((reader) => Tab.over(reader, mounted, site));
        const tabs = [...free];
        const faults: string[] = [];
        await sideBySide(addresses, count, async (address) => {
          const tab = free.pop();
          if (tab === undefined) throw new Error('more pages than tabs');
          const found = await visit(tab, address).catch((error: Error) => [error.message]);
          faults.push(...found.map((fault) => `${address}: ${fault}`));
          free.push(tab);
        });
        for (const tab of tabs) faults.push(...tab.faultsSoFar());
        return faults;
      }

      function report(act: string, startedMs: number, faults: readonly string[]): void {
        const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
        console.log(`figure: ${mounted.domain}: ${pages.length} pages ${act} in ${seconds} s, ${faults.length} faults`);
      }
    });

    it('find pages with Pagefind and with the search of Next.js, and open them under the base path', async () => {
      const reader = await chromium.open(origin);
      await reader.load('/team/starlight/getting-started/');
      await reader.page.locator('site-search button').first().click();
      await reader.page.locator('site-search input').first().fill('sidebar');
      const found = reader.page.locator('site-search .pagefind-ui__result-link').first();
      expect(await found.getAttribute('href')).toMatch(/^\/team\/starlight\/.+\//);
      await reader.load('/team/next/');
      await reader.page.locator('.search input').fill('routing');
      expect(await reader.page.locator('.search a').first().getAttribute('href')).toMatch(/^\/team\/next\/.+/);
      // The bundle lacks this picture. Not every browser loads it before it is visible.
      expect(reader.failures.filter(({ path }) => path !== 'team/next/images/sc.gif')).toEqual([]);
    });
  },
);

/** A tab that separates errors of mounting from those of the original site. */
class Tab {
  readonly reader: Reader;
  readonly #mounted: MountedSite;
  readonly #site: BuiltSite;
  readonly #strays = new Set<string>();

  private constructor(reader: Reader, mounted: MountedSite, site: BuiltSite) {
    this.reader = reader;
    this.#mounted = mounted;
    this.#site = site;
  }

  static over(reader: Reader, mounted: MountedSite, site: BuiltSite): Tab {
    const tab = new Tab(reader, mounted, site);
    const base = baseOf(mounted);
    reader.page.on('request', (request) => {
      const { origin, pathname } = new URL(request.url());
      if (origin === reader.site && !`${pathname}/`.startsWith(base) && pathname !== '/favicon.ico')
        tab.#strays.add(pathname);
    });
    return tab;
  }

  /** Waits until the page is visible and its scripts have run. */
  async faultsOfPage(address: string): Promise<string[]> {
    const { page } = this.reader;
    const base = baseOf(this.#mounted);
    const path = decodeURI(address).slice(base.length);
    if (path !== MISSING) await this.reader.untilTitled(this.#site.titleAt(path).replaceAll(/\s+/g, ' ').trim());
    await page.waitForFunction(this.#mounted.hasRun);
    const leaving = await page
      .locator('a[href]')
      .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).href));
    const faults = leaving
      .filter((href) => href.startsWith(`${this.reader.site}/`) && !`${new URL(href).pathname}/`.startsWith(base))
      .map((href) => `has a link to ${new URL(href).pathname}`);
    if ((await page.locator('body').innerText()).trim() === '') faults.push('shows nothing');
    return [...new Set(faults), ...this.faultsSoFar()];
  }

  /**
   * Requests outside of the path, failed requests, and console errors since the last call, without dead links of the original
   * site.
   */
  faultsSoFar(): string[] {
    const { known = [] } = this.#mounted;
    const { failures, complaints } = this.reader;
    const faults = [
      ...[...this.#strays].map((path) => `asks for ${path}`),
      ...failures.filter(({ path }) => !this.#isDead(path)).map(({ path, why }) => `${path}: ${why}`),
      ...complaints.filter((complaint) => !known.some((each) => complaint.includes(each))),
    ];
    this.#strays.clear();
    failures.length = 0;
    complaints.length = 0;
    return faults;
  }

  /** True if the bundle lacks the file that a page references, or the page data of such a reference. */
  #isDead(path: string): boolean {
    const base = baseOf(this.#mounted).slice(1);
    if (!path.startsWith(base)) return false;
    const sitePath = path.slice(base.length);
    if (sitePath === MISSING) return true;
    const name = sitePath.replace(/(?:\/index)?\.txt$/, '');
    return this.#site.fileAt(sitePath) === null && this.#site.deadPaths.has(name);
  }
}

/** Addresses of the links in an element, without fragments and without the page itself. */
async function linksOf(reader: Reader, within: string): Promise<string[]> {
  const hrefs = await reader.page
    .locator(`${within} a[href]:visible`)
    .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).href));
  const own = reader.page.url().replace(/#.*/, '');
  const origin = new URL(own).origin;
  return [...new Set(hrefs)].filter((href) => href.startsWith(origin) && !href.includes('#') && href !== own);
}

/** @returns true if the page's own scripts showed the next page */
async function click(reader: Reader, within: string, href: string): Promise<boolean> {
  const { page } = reader;
  await page.evaluate(() => Object.assign(window, { docshelfMark: true }));
  const index = await indexOfLink(reader, within, href);
  await page.locator(`${within} a[href]:visible`).nth(index).click();
  await page.waitForURL((url) => url.href.replace(/\/$/, '') === href.replace(/\/$/, ''), { waitUntil: 'networkidle' });
  return isSameDocument(reader);
}

function isSameDocument({ page }: Reader): Promise<boolean> {
  return page.evaluate(() => 'docshelfMark' in window);
}

function indexOfLink({ page }: Reader, within: string, href: string): Promise<number> {
  return page
    .locator(`${within} a[href]:visible`)
    .evaluateAll((links, wanted) => links.findIndex((link) => (link as HTMLAnchorElement).href === wanted), href);
}
