import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BuiltSite } from '../corpus/built-site.ts';
import { NEXT_JULY, NEXT_JUNE } from '../corpus/bundles.ts';
import { bundleFile, corpus, importBundle, newHome, whyNoCorpus } from '../helpers/corpus.ts';
import { type ConfigFile, openBench } from '../helpers/daemon.ts';
import { readArchive } from '../helpers/read-archive.ts';
import { spread } from '../helpers/spread.ts';
import { hasChromium, type Reader, useChromium, whyNoChromium } from './reader.ts';
import { faultsOf, PROTOCOLS, writePair } from './swapped-site.ts';

const VERSIONS = ['2024-06-01', '2024-07-15'] as const;
const SIDEBAR_CLICKS = 16;
const INLINE_CLICKS = 4;

describe.skipIf(corpus === undefined || !hasChromium)(
  `a Next.js site in a browser${whyNoCorpus}${whyNoChromium}`,
  () => {
    const bench = openBench(afterAll);
    const sites = new Map<string, BuiltSite>();
    const chromium = useChromium();
    let folder: string;

    beforeAll(async () => {
      folder = await newHome(bench, { search: { enabled: false } });
      for (const [at, name] of [NEXT_JUNE, NEXT_JULY].entries()) {
        await importBundle(bench, folder, bundleFile(name));
        sites.set(VERSIONS[at] ?? '', new BuiltSite(await readArchive(bundleFile(name))));
      }
    });

    it.each(VERSIONS)(
      'opens the links of version %s by client-side navigation, without a failed request',
      async (version) => {
        const { reader, site, daemon } = await openReader(version);
        const clicked: string[] = [];
        for (const [within, clicks] of [
          ['nav', SIDEBAR_CLICKS],
          ['main', INLINE_CLICKS],
        ] as const) {
          await reader.load('/');
          for (const href of spread(await pageLinks(reader, within, site), clicks)) {
            // Only the first page contains links in its text.
            if (within === 'main' && !reader.page.url().endsWith(`${reader.site}/`)) await reader.load('/');
            expect([href, await reader.follow(within, href)]).toEqual([href, true]);
            await reader.untilTitled(site.titleAt(href.slice(1)));
            clicked.push(href);
          }
        }
        expect(clicked).toHaveLength(SIDEBAR_CLICKS + INLINE_CLICKS);
        expect(faultsOf(reader, site)).toEqual([]);
        await daemon.kill();
      },
    );

    it.each([
      ['HTTP/1.1', {}, 'http/1.1'],
      ['HTTPS and HTTP/2', { tls: { certFile: 'tls.crt', keyFile: 'tls.key' } }, 'h2'],
    ])('opens a page of the new version on the first click after an update, over %s', async (_, server, spoken) => {
      const { reader, site, daemon } = await openReader('2024-06-01', server);
      expect(await reader.page.evaluate(PROTOCOLS)).toEqual([spoken]);
      const next = siteOf('2024-07-15');
      const links = await pageLinks(reader, 'nav', site);
      const inBoth = links.filter((href) => next.fileAt(href.slice(1)) !== null);
      for (const href of spread(inBoth, 3)) expect(await reader.follow('nav', href)).toBe(true);
      expect(faultsOf(reader, site)).toEqual([]);

      // The files include a certificate.
      await writePair(folder);
      await daemon.rewriteConfig({ staticExport: { version: '2024-07-15' } });
      await daemon.untilServing('2024-07-15');
      const navigations: string[] = [];
      for (const href of spread(inBoth.toReversed(), 10)) {
        const isClientSide = await reader.follow('nav', href);
        await reader.untilTitled(next.titleAt(href.slice(1)));
        expect(await reader.page.locator('main h1').first().innerText()).not.toBe('');
        navigations.push(isClientSide ? 'by script' : 'as a whole');
      }
      const faults = faultsOf(reader, next);
      console.log(`figure: pages clicked after the swap came ${navigations.join(', ')}`);
      console.log(`figure: failed requests and complaints after the swap: ${faults.join(', ') || 'none'}`);
      expect(faults).toEqual([]);
      const scripts = await reader.page.evaluate(() =>
        [...document.scripts].map((script) => script.getAttribute('src') ?? '/'),
      );
      expect(scripts.filter((path) => path !== '/' && !site.files.has(path.slice(1)))).not.toEqual([]);
      await daemon.kill();
    });

    function siteOf(version: string): BuiltSite {
      return sites.get(version) ?? new BuiltSite(new Map());
    }

    async function openReader(version: string, server: ConfigFile = {}) {
      await writePair(folder);
      const daemon = await bench.start(
        { staticExport: { version }, search: { enabled: false }, log: { access: false }, server },
        { folder },
      );
      await daemon.untilServing(version);
      const reader = await chromium.open(daemon.site, { ignoreHTTPSErrors: true });
      await reader.load('/');
      return { daemon, reader, site: siteOf(version) };
    }

    /** Different pages that links in an element open, without the first page. */
    async function pageLinks(reader: Reader, within: string, site: BuiltSite): Promise<string[]> {
      const hrefs = await reader.page
        .locator(`${within} a[href^="/"]`)
        .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
      return [...new Set(hrefs)].filter((href) => href !== '/' && site.fileAt(href.slice(1)) !== null);
    }
  },
);
