import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { organizations, startExporter } from '../acceptance/export-service.ts';
import { BuiltSite } from '../corpus/built-site.ts';
import { bundleFile, corpus, importBundle, newHome, whyNoCorpus } from '../helpers/corpus.ts';
import { openBench } from '../helpers/daemon.ts';
import { readArchive } from '../helpers/read-archive.ts';
import { spread } from '../helpers/spread.ts';
import { differencesOf, hostsOutside } from './compare-visits.ts';
import { CORPUS_SITES } from './corpus-sites.ts';
import { CutOffNetwork, canCutOff, whyNoCutOff } from './cut-off.ts';
import { LiveSite } from './live-site.ts';
import { linksTo, nameOf, type Stop, visitPages, withLaterVisits } from './page-visits.ts';
import { hasChromium, launchChromium, whyNoChromium } from './reader.ts';

/** Number of opened pages per site, spread evenly. `npm run soak` opens more. */
const PAGES_OPENED = Number(process.env.DOCSHELF_CRAWL_PAGES ?? 3);
/** `npm run soak` crawls all sites of a generator, with and without a browser. */
const SITES = CORPUS_SITES.filter(({ isForSoak }) => !isForSoak || process.env.DOCSHELF_CRAWL_PAGES !== undefined);
/** Number of links to click, on a page in the middle. First pages have few links. */
const CLICKS = 2;
/** Maximum number of visits. On a busy machine, scripts may not have finished at the first visit. */
const VISITS_MAX = 4;
const JOB_MS_MAX = 600_000;
/** Enough for all pages of a large site on a busy machine. */
const TEST_MS_MAX = 3_600_000;
/** Resolves no host name, like in an air gap. */
const NO_NAMES = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1';

const isPossible = corpus !== undefined && hasChromium && canCutOff;

describe.skipIf(!isPossible)(`crawls of public sites${whyNoCorpus}${whyNoChromium}${whyNoCutOff}`, () => {
  const bench = openBench(afterAll);
  let network: CutOffNetwork;
  /** One browser is in the isolated network, the other one reaches the live sites. */
  let browser: Browser;
  let liveBrowser: Browser;

  beforeAll(async () => {
    network = await CutOffNetwork.open(bench);
    browser = await network.launchChromium();
    liveBrowser = await launchChromium([NO_NAMES]);
    bench.onEnd(() => liveBrowser.close());
  });

  describe.each(SITES)('$name, render: $render', ({ name, root, launchers, render, pagesMax, orphans, ...hosting }) => {
    let live: LiveSite;
    let addresses: string[];
    let archive: string;

    beforeAll(async () => {
      const files = [...(await readArchive(bundleFile(name)))].filter(([path]) => !launchers.includes(path));
      live = await LiveSite.start(new Map(files.map(([path, bytes]) => [path.slice(root.length), bytes])), hosting);
      bench.onEnd(() => live.close());
      const known = live.pages().filter((address) => !orphans.includes(address));
      addresses = pagesMax === null ? known : spread(known, pagesMax);
    });

    it('export all pages', { timeout: TEST_MS_MAX }, async () => {
      const source = { kind: 'crawl', url: live.url, render, allowAddresses: ['127.0.0.0/8'] };
      const client = await startExporter(bench, {
        organizations: organizations(source),
        exportApi: { browser: { verify: 'off', sandbox: 'off' } },
        search: { enabled: false },
      });
      const startedMs = performance.now();
      const { jobId } = await client.start('acme', pagesMax === null ? {} : { paths: addresses });
      const job = await client.until(jobId, ({ status }) => status === 'completed' || status === 'failed', JOB_MS_MAX);
      expect([job.status, job.error]).toEqual(['completed', null]);
      console.log(`figure: ${name}, ${render}: ${job.pageCount} pages exported in ${secondsSince(startedMs)} s`);
      archive = join(await bench.folder(), 'acme.tar.gz');
      await writeFile(archive, await client.download((await client.bundle(jobId)).bundleUrl));
      await client.daemon.kill();
      const exported = new BuiltSite(await readArchive(archive));
      expect(addresses.filter((address) => exported.fileAt(decodeURI(address).slice(1)) === null)).toEqual([]);
      if (pagesMax === null) expect(job.pageCount).toBeGreaterThanOrEqual(addresses.length);
    });

    it('export pages that behave without a network like the live pages', { timeout: TEST_MS_MAX }, async () => {
      const folder = await newHome(bench, { search: { enabled: false } });
      await importBundle(bench, folder, archive);
      const daemon = await network.startDaemon(folder);
      const pages = spread(addresses, PAGES_OPENED).map((address): Stop => ({ address, link: null }));
      // A missing address also shows a page.
      const missing = hosting.addresses === 'file' ? [] : [{ address: `${hosting.base}docs/no-such-page`, link: null }];
      const middle = addresses[addresses.length >> 1] ?? hosting.base;
      const links = await linksTo(liveBrowser, live.origin, middle, new Set(addresses));
      const clicks = spread(links, CLICKS);
      const opened = [...pages, ...missing, ...clicks];
      const startedMs = performance.now();
      const visitBoth = (stops: readonly Stop[]) =>
        Promise.all([visitPages(liveBrowser, live.origin, stops), visitPages(browser, daemon.site, stops)]);
      let [atOrigin, served] = await visitBoth(opened);
      for (let visits = 1; visits < VISITS_MAX; visits += 1) {
        const unlike = opened.filter((stop) => atOrigin.get(nameOf(stop))?.text !== served.get(nameOf(stop))?.text);
        const [againAtOrigin, againServed] = await visitBoth(unlike);
        atOrigin = withLaterVisits(atOrigin, againAtOrigin);
        served = withLaterVisits(served, againServed);
      }
      const figure = `${pages.length} of ${addresses.length} pages and ${clicks.length} links opened`;
      const outside = hostsOutside(served).join(', ') || 'nobody';
      console.log(
        `figure: ${name}, ${render}: ${figure}, at the origin and cut off, in ${secondsSince(startedMs)} s; asked outside: ${outside}`,
      );
      await daemon.stop();
      expect(served.size).toBe(opened.length);
      const limitedTo = pagesMax === null ? null : new Set(addresses);
      expect(await differencesOf(live, atOrigin, served, limitedTo)).toEqual([]);
    });
  });

  it('are verified in a browser that cannot reach the live site', async () => {
    const live = await LiveSite.start(new Map([['index.html', Buffer.from('<p>There')]]), {
      base: '/',
      addresses: 'bare',
    });
    bench.onEnd(() => live.close());
    const page = await browser.newPage();
    await expect(page.goto(live.url)).rejects.toThrow('ERR_CONNECTION_REFUSED');
    await page.close();
  });
});

function secondsSince(startedMs: number): string {
  return ((performance.now() - startedMs) / 1000).toFixed(1);
}
