import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { siteEntry } from '../acceptance/start.ts';
import { bundleFile, corpus, whyNoCorpus } from '../helpers/corpus.ts';
import { type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { packTarGz } from '../helpers/pack-tar-gz.ts';
import { readArchive } from '../helpers/read-archive.ts';
import { MOUNTED_SITES } from './mounted-sites.ts';
import { hasChromium, useChromium, whyNoChromium } from './reader.ts';

const SETUP_MS_MAX = 600_000;
const SOON = { timeout: 60_000 };
const DOCSEARCH =
  '<div class="navbarSearchContainer_Bca1"><button type="button" class="DocSearch DocSearch-Button" style="width:200px;height:36px" aria-label="Search (Ctrl+K)">Search</button></div>';
/** Search box of a page whose scripts render its header again from time to time. */
const THEIRS = `addEventListener('keydown', ({ key, ctrlKey }) => {
  if (key === '/' || (key === 'k' && ctrlKey)) window.theirs = true;
});
window.anew = () => {
  const header = document.querySelector('header');
  header.replaceWith(header.cloneNode(true));
};`;
const goOf = (name: string) => MOUNTED_SITES.find(({ domain }) => domain === name)?.go ?? '';

/** A few pages of real sites: some with a search that needs a hosted service, and one with a working search. */
const SITES = {
  vitepress: {
    archive: 'vitepress-docs.zip',
    files:
      /^(?:(?:404|index|guide\/[^/]+)\.html|assets\/(?!(?:es|fa|ja|ko|pt|ru|zh)_).*|hashmap\.json|[^/]+\.(?:css|svg))$/,
  },
  starlight: { archive: 'starlight.tar.zst', files: /^(?:_astro\/.*|(?:(?:getting-started|404)\/)?index\.html)$/ },
  working: {
    archive: 'starlight.tar.zst',
    files: /^(?:_astro\/.*|(?:(?:getting-started|404)\/)?index\.html|pagefind\/pagefind[^/]*)$/,
  },
} as const;

describe.skipIf(corpus === undefined || !hasChromium)(
  `the search box of docshelf on a site with its own search${whyNoCorpus}${whyNoChromium}`,
  () => {
    const bench = openBench(afterAll);
    const chromium = useChromium();
    let daemon: DaemonProcess;

    beforeAll(async () => {
      const folder = await bench.folder();
      const sites = [...Object.keys(SITES), 'plain'].map((domain) =>
        siteEntry(domain, {
          search: { widget: 'replace', model: 'off' },
          features: { enforce: domain === 'plain' ? 'off' : 'on' },
        }),
      );
      daemon = await bench.start({ sites, staticExport: null, search: {}, log: { access: false } }, { folder });
      const add = async (domain: string, files: ReadonlyMap<string, Buffer>) => {
        const to = join(folder, `${domain}.tar.gz`);
        await packTarGz({ files: Array.from(files, ([path, bytes]) => ({ path, bytes })), to });
        const args = ['bundle', 'import', to, '--version', 'v1', '--site', domain];
        expect(await bench.run(args, { cwd: folder })).toMatchObject({ code: 0 });
      };
      for (const [archive, rows] of Map.groupBy(Object.entries(SITES), ([, row]) => row.archive)) {
        const all = await readArchive(bundleFile(archive));
        for (const [domain, { files }] of rows)
          await add(domain, new Map([...all].filter(([path]) => files.test(path))));
      }
      const header = `<header><nav style="display:flex;gap:20px">A site ${DOCSEARCH}<a href="/b.html">B</a></nav></header>`;
      const page = (name: string) =>
        Buffer.from(
          `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${name}</title><script src="/theirs.js"></script></head><body>${header}<main><h1>${name}</h1><p>Some words of ${name}.</p></main></body></html>`,
        );
      await add(
        'plain',
        new Map([
          ['index.html', page('Start')],
          ['b.html', page('Other')],
          ['theirs.js', Buffer.from(THEIRS)],
        ]),
      );
    }, SETUP_MS_MAX);

    async function open(path: string, profile: object = { viewport: { width: 1440, height: 900 } }) {
      const reader = await chromium.open(daemon.site, profile);
      const { page } = reader;
      await reader.load(path);
      const button = page.locator('docshelf-search').getByRole('link');
      const dialog = page.getByRole('dialog', { name: /\S/ }).filter({ has: page.getByRole('combobox') });
      return {
        reader,
        page,
        button,
        dialog,
        /** Distance in pixels between the end of the site's box and the middle of ours. */
        apart: async (theirs: string): Promise<number> => {
          await button.waitFor();
          return page.evaluate((selector) => {
            const end = (node: Element | null | undefined) => {
              const { right = 0, y = 0, height = 0 } = node?.getBoundingClientRect() ?? {};
              return { x: right, y: y + height / 2 };
            };
            const ours = end(document.querySelector('docshelf-search')?.shadowRoot?.querySelector('a'));
            const other = end(document.querySelector(selector));
            return Math.hypot(ours.x - other.x, ours.y - other.y);
          }, theirs);
        },
        openAndClose: async (key: string) => {
          await page.keyboard.press(key);
          await dialog.waitFor();
          await page.keyboard.press('Escape');
          await page.waitForFunction("!document.activeElement.localName.startsWith('docshelf')");
        },
        isHidden: (theirs: string) =>
          page
            .locator(theirs)
            .first()
            .evaluate((node) => getComputedStyle(node).visibility),
      };
    }

    it('replaces DocSearch on VitePress, also after client-side navigation, and contacts no external service', async () => {
      const theirs = '.VPNavBarSearchButton';
      const { reader, page, button, dialog, apart, isHidden, openAndClose } = await open('/vitepress/guide/markdown');
      await expect.poll(() => apart(theirs), SOON).toBeLessThan(2);
      expect(await isHidden(theirs)).toBe('hidden');
      expect(await isHidden('.VPNavBarAskAiButton')).toBe('hidden');
      await page.evaluate(`(${goOf('vitepress')})('/vitepress/guide/routing')`);
      await page.waitForURL('**/vitepress/guide/routing');
      await expect.poll(() => apart(theirs), SOON).toBeLessThan(2);
      for (const key of ['Control+k', '/']) await openAndClose(key);
      await button.click();
      await dialog.waitFor();
      await page.keyboard.type('routing');
      // The option is a link. A shelf also shows a choice of sites.
      await page.locator('[role=option]').first().waitFor();
      expect(await page.locator('.DocSearch-Modal, .VPAlgoliaSearchBox').count()).toBe(0);
      expect(await page.locator('link[href*="algolia"]').count()).toBe(0);
      expect(reader.blocked.filter((url) => url.includes('algolia'))).toEqual([]);
      expect(reader.failures.filter(({ path }) => path.includes('_docshelf'))).toEqual([]);
    });

    it('replaces Pagefind if its index is missing, also on a phone', async () => {
      for (const profile of [undefined, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }]) {
        const { page, button, dialog, apart, isHidden, reader } = await open('/starlight/getting-started/', profile);
        const theirs = 'site-search button[data-open-modal]';
        await expect.poll(() => apart(theirs), SOON).toBeLessThan(2);
        expect(await isHidden(theirs)).toBe('hidden');
        await button.click();
        await dialog.waitFor();
        await page.keyboard.press('Escape');
        await page.keyboard.press('Control+k');
        await dialog.waitFor();
        expect(await page.locator('site-search dialog[open]').count()).toBe(0);
        expect(reader.failures.filter(({ path }) => path.includes('pagefind'))).toEqual([]);
      }
    });

    it('does not replace a site search that works', async () => {
      const { page, button, isHidden } = await open('/working/getting-started/');
      await button.waitFor();
      expect(await isHidden('site-search button[data-open-modal]')).toBe('visible');
      expect(await page.locator('[data-replace]').count()).toBe(0);
      const { sites } = await daemon.status();
      const notices = Object.fromEntries((sites ?? []).map((site) => [site.deployment.domain, site.notices]));
      const noticesOf = (domain: string) =>
        notices[domain]?.filter((notice: string) => notice.startsWith('The search box of'));
      expect(['working', 'vitepress', 'starlight', 'plain'].map(noticesOf)).toEqual([
        [],
        [expect.stringContaining('(VitePress, DocSearch) needs an external service, *.algolia.net; docshelf')],
        [expect.stringContaining('(Pagefind) has no index, pagefind/pagefind-entry.json; docshelf')],
        [expect.stringContaining('(DocSearch) needs an external service')],
      ]);
    });

    it('keeps its position if the header or the window changes, and handles its shortcut keys before the search of the site', async () => {
      const { page, button, dialog, apart, isHidden, openAndClose, reader } = await open('/plain/');
      await expect.poll(() => apart('.DocSearch-Button'), SOON).toBeLessThan(2);
      for (let times = 0; times < 3; times += 1) {
        await page.evaluate('anew()');
        await expect.poll(() => apart('.DocSearch-Button'), SOON).toBeLessThan(2);
        expect(await page.locator('docshelf-search').count()).toBe(1);
      }
      await page.evaluate("document.querySelector('header').style.paddingLeft = '90px'");
      await page.setViewportSize({ width: 900, height: 700 });
      await expect.poll(() => apart('.DocSearch-Button'), SOON).toBeLessThan(2);
      for (const key of ['Control+k', '/']) await openAndClose(key);
      expect(await page.evaluate('window.theirs')).toBeUndefined();
      expect(await isHidden('.DocSearch-Button')).toBe('hidden');
      await button.click();
      await dialog.waitFor();
      expect([reader.complaints, reader.blocked]).toEqual([[], []]);
    });
  },
);
