import type { Browser, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BuiltSite } from '../corpus/built-site.ts';
import { bundleFile, corpus, importBundle, newHome, whyNoCorpus } from '../helpers/corpus.ts';
import { openBench } from '../helpers/daemon.ts';
import { readArchive } from '../helpers/read-archive.ts';
import { type Failure, hasChromium, launchChromium, Reader, whyNoChromium } from './reader.ts';

const BASE_PATH = '/team/docs';

interface Visit {
  /** Pages that are loaded as a whole. */
  readonly pages: readonly string[];
  /** Where links are clicked, and how many; `byScript`: pages come without a document being loaded. */
  readonly within: string;
  readonly clicks: number;
  readonly byScript: boolean;
  /** The link to the first page. */
  readonly home?: string;
  /** Links that are no pages of this application. */
  readonly not?: RegExp;
  /** Files that the bundle lacks, and asks for at the root, too. */
  readonly missing?: readonly string[];
  /** What the console says at the root, too. */
  readonly known?: readonly string[];
}

const SITES: Readonly<Record<string, Visit>> = {
  'sphinx-manual.tar.gz': {
    pages: ['/', '/usage/theming.html', '/development/tutorials/index.html'],
    within: 'body',
    clicks: 4,
    byScript: false,
    known: ['file:///usr/share/javascript/mathjax'],
  },
  'starlight.tar.zst': {
    pages: ['/', '/getting-started/', '/fr/guides/route-data/', '/zh-cn/components/file-tree/'],
    within: 'nav',
    clicks: 6,
    byScript: false,
    home: 'a.site-title',
  },
  'nextjs-a-2024-06-01.tar.gz': {
    pages: ['/', '/guides/rpc', '/ja', '/api/routing'],
    within: 'nav',
    clicks: 10,
    byScript: true,
    home: 'a.brand',
    missing: ['images/sc01.gif'],
  },
  'vitepress-docs.zip': {
    pages: ['/', '/guide/markdown', '/reference/runtime-api', '/fa/guide/markdown', '/ja/guide/asset-handling'],
    within: 'aside',
    clicks: 8,
    byScript: true,
    home: '.VPNavBarTitle a',
  },
  'docusaurus-classic.tar.gz': {
    pages: ['/', '/docs/intro', '/docs/1.0/intro', '/fr/docs/next/intro', '/blog/long-blog-post'],
    within: 'body',
    clicks: 4,
    byScript: true,
    home: '.navbar__brand',
    not: /\/fr\//,
  },
};

describe.skipIf(corpus === undefined || !hasChromium)(
  `sites of others below ${BASE_PATH}/${whyNoCorpus}${whyNoChromium}`,
  () => {
    const bench = openBench(afterAll);
    let browser: Browser;

    beforeAll(async () => {
      browser = await launchChromium();
      bench.onEnd(() => browser.close());
    });

    it.each(Object.entries(SITES))(
      '%s: pages open, links are followed, and nothing leaves the path',
      async (name, visit) => {
        const { reader, strays } = await open(name);
        const site = new BuiltSite(await readArchive(bundleFile(name)));
        for (const path of visit.pages) {
          await reader.load(BASE_PATH + path);
          expect([path, await reader.page.locator('h1').first().innerText()]).not.toEqual([path, '']);
          expect([path, failuresOf(reader, visit), complaintsOf(reader, visit)]).toEqual([path, [], []]);
        }

        const start = visit.pages[1] ?? '/';
        await reader.load(BASE_PATH + start);
        const hrefs = (await linksOf(reader, visit.within)).filter((href) => visit.not?.test(href) !== true);
        expect(hrefs.length).toBeGreaterThanOrEqual(visit.clicks);
        const ways: boolean[] = [];
        for (const href of spread(hrefs, visit.clicks)) {
          if ((await indexOfLink(reader, visit.within, href)) === -1) await reader.load(BASE_PATH + start);
          ways.push(await click(reader, visit.within, href));
          await reader.untilTitled(titleOf(site, href));
        }
        if (visit.home !== undefined) {
          await reader.page.locator(visit.home).first().click();
          await reader.page.waitForURL((url) => url.pathname.replace(/\/$/, '') === BASE_PATH);
          ways.push(await isSameDocument(reader));
        }
        expect(ways).toEqual(ways.map(() => visit.byScript));
        expect(failuresOf(reader, visit)).toEqual([]);
        expect(complaintsOf(reader, visit)).toEqual([]);
        expect(strays).toEqual([]);
        await reader.close();
      },
    );

    it("Pagefind's results and Next.js' search lead below the path", async () => {
      const starlight = await open('starlight.tar.zst');
      await starlight.reader.load(`${BASE_PATH}/getting-started/`);
      await starlight.reader.page.locator('site-search button').first().click();
      await starlight.reader.page.locator('site-search input').first().fill('sidebar');
      const found = starlight.reader.page.locator('site-search .pagefind-ui__result-link').first();
      expect(await found.getAttribute('href')).toMatch(/^\/team\/docs\/.+\//);
      expect([starlight.reader.failures, starlight.strays]).toEqual([[], []]);
      await starlight.reader.close();

      const next = await open('nextjs-a-2024-06-01.tar.gz');
      await next.reader.load(`${BASE_PATH}/`);
      await next.reader.page.locator('.search input').fill('routing');
      expect(await next.reader.page.locator('.search a').first().getAttribute('href')).toMatch(/^\/team\/docs\/.+/);
      expect([next.reader.failures, next.strays]).toEqual([[], []]);
      await next.reader.close();
    });

    async function open(name: string) {
      const folder = await newHome(bench);
      const { version } = await importBundle(bench, folder, bundleFile(name));
      const daemon = await bench.start({ server: { basePath: BASE_PATH }, log: { access: false } }, { folder });
      await daemon.untilServing(version);
      const reader = await Reader.open(browser, daemon.site);
      const strays: string[] = [];
      reader.page.on('request', (request: Request) => {
        const { origin, pathname } = new URL(request.url());
        const isOurs = origin === new URL(daemon.site).origin;
        if (isOurs && !`${pathname}/`.startsWith(`${BASE_PATH}/`) && pathname !== '/favicon.ico') strays.push(pathname);
      });
      return { reader, strays };
    }
  },
);

/** Addresses, without fragment, that links there lead to on the site, besides the page itself. */
async function linksOf(reader: Reader, within: string): Promise<string[]> {
  const hrefs = await reader.page
    .locator(`${within} a[href]:visible`)
    .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).href));
  const own = reader.page.url().replace(/#.*/, '');
  const origin = new URL(own).origin;
  return [...new Set(hrefs)].filter((href) => href.startsWith(origin) && !href.includes('#') && href !== own);
}

/** @returns whether the page's own scripts showed the next one */
async function click(reader: Reader, within: string, href: string): Promise<boolean> {
  const { page } = reader;
  await page.evaluate(() => Object.assign(window, { docshelfMark: true }));
  const index = await indexOfLink(reader, within, href);
  await page.locator(`${within} a[href]:visible`).nth(index).click();
  await page.waitForURL((url) => url.href.replace(/\/$/, '') === href.replace(/\/$/, ''), { waitUntil: 'networkidle' });
  return isSameDocument(reader);
}

function titleOf(site: BuiltSite, href: string): string {
  const path = decodeURIComponent(new URL(href).pathname).slice(BASE_PATH.length + 1);
  return site.titleAt(path).replaceAll(/\s+/g, ' ').trim();
}

function isSameDocument({ page }: Reader): Promise<boolean> {
  return page.evaluate(() => 'docshelfMark' in window);
}

function indexOfLink({ page }: Reader, within: string, href: string): Promise<number> {
  return page
    .locator(`${within} a[href]:visible`)
    .evaluateAll((links, wanted) => links.findIndex((link) => (link as HTMLAnchorElement).href === wanted), href);
}

function failuresOf({ failures }: Reader, { missing = [] }: Visit): Failure[] {
  return failures.filter(({ path }) => !missing.some((each) => path.endsWith(`/${each}`)));
}

function complaintsOf({ complaints }: Reader, { known = [] }: Visit): string[] {
  return complaints.filter((complaint) => !known.some((each) => complaint.includes(each)));
}

function spread<T>(items: readonly T[], count: number): T[] {
  return items.filter(
    (_, at) => Math.floor((at * count) / items.length) !== Math.floor(((at - 1) * count) / items.length),
  );
}
