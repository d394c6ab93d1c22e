import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { request } from 'undici';
import { BOXED_SITES, type BoxedSite } from '../../test/browser/boxed-sites.ts';
import { startShelf } from '../../test/browser/shelf-of-bundles.ts';
import { bundleFile } from '../../test/helpers/corpus.ts';
import type { Bench } from '../../test/helpers/daemon.ts';
import { packTarGz } from '../../test/helpers/pack-tar-gz.ts';
import { readArchive } from '../../test/helpers/read-archive.ts';
import { quantile } from '../search/latency.ts';
import { tableOf } from '../search/table.ts';
import { loadNow } from '../sites/shelf.ts';
import { rootOf, withPagefind } from './pagefind.ts';

const ROUNDS = 3;
const STEP_MS_MAX = 120_000;
/** Without Starlight, whose pages already contain Pagefind, and without a second site of the same generator. */
const SITES = BOXED_SITES.filter(({ domain }) => domain !== 'starlight' && domain !== 'mixed');
const SYSTEMS = {
  docshelf: {
    own: /_docshelf\//,
    first: "document.querySelector('docshelf-search-dialog')?.shadowRoot.querySelector('a[role=option]')",
    open: (page: Page) => page.keyboard.press('Control+k'),
    button: 'docshelf-search button',
    field: 'docshelf-search-dialog input',
  },
  pagefind: {
    own: /\/pagefind\//,
    first: "document.querySelector('pagefind-modal .pf-result-link[href]')",
    // A key, because Ctrl-K may open the site's own search, and the button may be covered.
    open: (page: Page) => page.locator('pagefind-modal-trigger button').press('Enter'),
    button: 'pagefind-modal-trigger button',
    field: 'pagefind-modal dialog input',
  },
} as const;
type System = keyof typeof SYSTEMS;

interface Visit {
  readonly openedMs: number;
  readonly typedMs: number;
  /** Requests before the first search, and after one. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/**
 * The sites of the corpus from one daemon: unchanged, with docshelf's box, and with Pagefind's dialog. Each visit has a new
 * profile, opens the box by a key, and types the query at once, until the first result is visible.
 */
export async function benchSites(bench: Bench, launch: () => Promise<Browser>): Promise<void> {
  const folder = await bench.folder();
  const indexed = new Map<string, string[]>();
  const bundles = [];
  for (const { archive, domain } of SITES) {
    const site = await readArchive(bundleFile(archive));
    const { files, indexMs, indexBytes } = await withPagefind(rootOf(site), await bench.folder());
    indexed.set(domain, [`${(indexMs / 1000).toFixed(1)} s`, `${(indexBytes / 2 ** 20).toFixed(1)} MiB`]);
    const to = join(folder, `${domain}-export-2026-01-01.tar.gz`);
    await packTarGz({ files: Array.from(files, ([path, bytes]) => ({ path, bytes })), to });
    const hosts = (system: System) => [`${domain}-${system}.localhost`];
    bundles.push(
      { archive: bundleFile(archive), entry: { domain: `${domain}-docshelf`, hosts: hosts('docshelf') } },
      { archive: to, entry: { domain: `${domain}-pagefind`, hosts: hosts('pagefind'), search: { enabled: false } } },
    );
  }
  const daemon = await startShelf(bench, bundles, { search: { widget: true } });
  await daemon.until(({ sites }) => sites?.every(({ state }) => state === 'ready') === true, 600_000);
  const { port } = new URL(daemon.site);
  const browser = await launch();
  const rows: string[][] = [];
  for (const site of SITES) {
    for (const system of ['docshelf', 'pagefind'] as const) {
      const origin = `http://${site.domain}-${system}.localhost:${port}`;
      const visits: Visit[] = [];
      for (let round = 0; round <= ROUNDS; round += 1) visits.push(await visit(browser, site, system, origin));
      const [first, ...timed] = visits;
      const median = (of: 'openedMs' | 'typedMs'): string =>
        `${quantile(
          timed.map((each) => each[of]).sort((left, right) => left - right),
          0.5,
        ).toFixed(0)} ms`;
      const told = async (addresses: readonly string[] = []): Promise<string> => {
        let bytes = 0;
        for (const address of addresses) bytes += await encodedBytes(address, port);
        return `${(bytes / 1024).toFixed(1)} KiB, ${addresses.length}`;
      };
      const searched = first?.after ?? [];
      const index = system === 'docshelf' ? ['', ''] : (indexed.get(site.domain) ?? []);
      rows.push([
        site.domain,
        system,
        await told(first?.before),
        await told(searched),
        median('openedMs'),
        median('typedMs'),
        ...index,
      ]);
    }
  }
  console.log(`\n## Side by side on the same sites, medians of ${ROUNDS} visits, ${loadNow()}\n`);
  console.log(
    tableOf(
      [
        'site',
        '',
        'a page, requests',
        'the first search',
        'to the first result',
        'another query',
        'indexed in',
        'index',
      ],
      rows,
    ),
  );
}

async function visit(browser: Browser, site: BoxedSite, system: System, origin: string): Promise<Visit> {
  const { own, open, button, field, first } = SYSTEMS[system];
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.route(
    ({ origin: asked, protocol }) => protocol.startsWith('http') && asked !== origin,
    (route) => route.abort(),
  );
  const page = await context.newPage();
  page.setDefaultTimeout(STEP_MS_MAX);
  const asked: string[] = [];
  page.on('request', (made) => {
    if (own.test(made.url())) asked.push(made.url());
  });
  await page.goto(`${origin}/${site.start}`, { waitUntil: 'load' });
  await page.locator(button).waitFor();
  const before = [...asked];
  const openedMs = await timeOf(page, first, async () => {
    await open(page);
    await page.locator(field).fill(site.query);
  });
  const after = asked.slice(before.length);
  await page.locator(field).fill('');
  await page.waitForFunction(`!${first}`);
  const typedMs = await timeOf(page, first, () => page.locator(field).fill(`${site.query.split(' ')[0]}`));
  await context.close();
  return { openedMs, typedMs, before, after };
}

/** Time from the action until the frame after the first result, by the clock of the page. */
async function timeOf(page: Page, first: string, act: () => Promise<void>): Promise<number> {
  const beganMs = (await page.evaluate('performance.now()')) as number;
  const shown = page.evaluate(`new Promise((resolve) => {
    const look = () => (${first} ? setTimeout(() => resolve(performance.now())) : requestAnimationFrame(look));
    look();
  })`);
  const [at] = await Promise.all([shown, act()]);
  return (at as number) - beganMs;
}

/** Size of the body with the encoding for https, on this machine. */
async function encodedBytes(address: string, port: string): Promise<number> {
  const { pathname, search, host } = new URL(address);
  const { body } = await request(`http://127.0.0.1:${port}${pathname}${search}`, {
    headers: { host, 'accept-encoding': 'gzip, deflate, br, zstd' },
  });
  return (await body.arrayBuffer()).byteLength;
}
