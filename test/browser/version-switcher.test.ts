import { join } from 'node:path';
import type { BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundle, folderOf } from '../acceptance/bundles.ts';
import { reportViolations } from '../helpers/accessibility.ts';
import { bundleFile, corpus, whyNoCorpus } from '../helpers/corpus.ts';
import { openBench } from '../helpers/daemon.ts';
import { hasChromium, useChromium, whyNoChromium } from './reader.ts';

const NEXT = ['nextjs-a-2024-06-01.tar.gz', 'nextjs-a-2024-07-15.tar.gz'];
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; require-trusted-types-for 'script'";
const HOSTILE = 'a, p { color: #eee !important; font-size: 3px } * { letter-spacing: 9px }';
const strict = (mark: string) =>
  bundle(mark, {
    'index.html': `<!doctype html><html lang="fa" dir="rtl"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${mark}</title><link rel="stylesheet" href="/a.css"></head><body><main><h1>${mark}</h1></main></body></html>`,
    'a.css': 'body { background: #fff; color: #000 }',
    _headers: `/*\n  Content-Security-Policy: ${POLICY}\n`,
  });
const SHIFTS = `
  window.shifts = [];
  const placeOf = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join();
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries())
      window.shifts.push(value, ...sources.map(({ node, previousRect, currentRect }) =>
        [node?.nodeName, placeOf(previousRect), placeOf(currentRect)].join(' ')));
  }).observe({ type: 'layout-shift', buffered: true });
`;
const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const SETUP_MS_MAX = 600_000;

describe.skipIf(corpus === undefined || !hasChromium)(
  `the version switcher in a browser${whyNoCorpus}${whyNoChromium}`,
  () => {
    const bench = openBench(afterAll);
    const chromium = useChromium();
    let origin: string;

    beforeAll(async () => {
      const folder = await bench.folder();
      await folderOf(folder, { 'one.tar.gz': strict('one'), 'two.tar.gz': strict('two') });
      const archives = {
        next: NEXT.map(bundleFile),
        strict: ['one', 'two'].map((name) => join(folder, `${name}.tar.gz`)),
      };
      const sites = Object.keys(archives).map((domain) => ({
        domain,
        basePath: `/${domain}/`,
        staticExport: { enabled: true, serveVersions: 'kept' },
        versionSwitcher: true,
      }));
      const daemon = await bench.start(
        { sites, staticExport: null, search: { enabled: false }, log: { access: false } },
        { folder },
      );
      origin = daemon.site;
      for (const [domain, files] of Object.entries(archives)) {
        for (const [at, file] of files.entries()) {
          const args = ['bundle', 'import', file, '--version', `v${at + 1}`, '--site', domain];
          expect(await bench.run(args, { cwd: folder })).toMatchObject({ code: 0 });
        }
      }
    }, SETUP_MS_MAX);

    async function open(path: string, profile: BrowserContextOptions = {}) {
      const reader = await chromium.open(origin, profile);
      if (profile.javaScriptEnabled !== false) await reader.page.addInitScript(SHIFTS);
      await reader.load(path);
      const { page } = reader;
      return {
        reader,
        page,
        switcher: page.locator('docshelf-versions'),
        summary: page.locator('docshelf-versions summary'),
        at: () => new URL(page.url()).pathname,
        expectQuiet: async () => {
          expect([reader.failures, reader.complaints, reader.blocked]).toEqual([[], [], []]);
          expect(await page.evaluate('window.shifts')).toEqual([]);
        },
      };
    }

    it('opens the same page of another version and returns, with the keyboard alone, after client-side navigation', async () => {
      const { reader, page, summary, at, expectQuiet } = await open('/next/middleware/builtin/basic-auth');
      await summary.filter({ hasText: 'Version v2' }).waitFor();
      const before = await page.locator('main').evaluate((node) => node.getBoundingClientRect().y);
      await page.evaluate("window.next.router.push('/guides/rpc')");
      await page.waitForURL('**/next/guides/rpc');
      await page.waitForLoadState('networkidle');
      await expectQuiet();
      await summary.focus();
      await page.keyboard.press('Enter');
      const links = page.locator('docshelf-versions li a');
      await links.nth(1).waitFor();
      expect(await links.allInnerTexts()).toEqual(['v2 (current)', 'v1']);
      expect(await links.first().getAttribute('aria-current')).toBe('true');
      expect(await page.locator('main').evaluate((node) => node.getBoundingClientRect().y)).toBe(before);
      await page.keyboard.press('Escape');
      await page.waitForFunction(
        "!document.querySelector('docshelf-versions').shadowRoot.querySelector('details').open",
      );
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.waitForURL('**/next/_docshelf/v/v1/guides/rpc', { waitUntil: 'networkidle' });
      const notice = page.locator('docshelf-versions p');
      expect(await notice.innerText()).toContain('This is version v1, not the current one.');
      await page.evaluate("window.next.router.push('/middleware/builtin/basic-auth')");
      await page.waitForURL('**/v1/middleware/builtin/basic-auth');
      await notice.getByRole('link', { name: 'Go to the current version, v2' }).click();
      await page.waitForURL('**/next/middleware/builtin/basic-auth', { waitUntil: 'networkidle' });
      expect(at()).toBe('/next/middleware/builtin/basic-auth');
      expect(reader.complaints).toEqual([]);
    });

    it('shows the notice about an older version and its link without scripts, in the same position as with scripts', async () => {
      const plain = await open('/strict/_docshelf/v/v1/', { javaScriptEnabled: false });
      const scripted = await open('/strict/_docshelf/v/v1/');
      await scripted.summary.waitFor();
      for (const { switcher } of [plain, scripted]) {
        const place = await switcher.evaluate((node) => {
          const { position, direction } = getComputedStyle(node);
          return { position, direction, isRight: node.getBoundingClientRect().right > innerWidth - 20 };
        });
        expect(place).toEqual({ position: 'fixed', direction: 'rtl', isRight: true });
      }
      await scripted.expectQuiet();
      await plain.page.getByRole('link').filter({ hasText: 'v2' }).click();
      await plain.page.waitForURL('**/strict/');
      expect(await plain.page.locator('h1').innerText()).toBe('two');
    });

    it('does not move the page if its script loads after the notice about an older version, also on a phone', async () => {
      for (const profile of [{}, PHONE]) {
        const { page, reader, summary, expectQuiet } = await open('/strict/', profile);
        await page.route('**/switcher.js', async (route) => {
          // The policy forbids polling in the page.
          while (!(await page.evaluate("performance.getEntriesByName('first-contentful-paint').length > 0")));
          await route.continue();
        });
        await reader.load('/strict/_docshelf/v/v1/');
        await summary.waitFor();
        await expectQuiet();
      }
    });

    it.each([
      ['light', {}],
      ['dark, on a phone', { ...PHONE, colorScheme: 'dark' }],
    ] as const)(
      'passes the accessibility checks under a strict content security policy: %s',
      async (_name, profile) => {
        for (const path of ['/strict/', '/strict/_docshelf/v/v1/']) {
          const { page, summary, expectQuiet } = await open(path, profile);
          await summary.click();
          await page.locator('docshelf-versions li a').first().waitFor();
          expect(await reportViolations(page)).toEqual([]);
          await expectQuiet();
        }
      },
    );

    it.each(['/strict/', '/strict/_docshelf/v/v1/'])(
      'keeps its size whatever the style of the page is: %s',
      async (path) => {
        const { page, switcher, summary } = await open(path, { bypassCSP: true });
        await summary.waitFor();
        const sizes = () => switcher.evaluate((node: HTMLElement) => [node.offsetWidth, node.offsetHeight]);
        const before = await sizes();
        await page.addStyleTag({ content: HOSTILE });
        expect(await sizes()).toEqual(before);
      },
    );
  },
);
