import type { Browser } from 'playwright-core';
import { startShelf } from '../../test/browser/shelf-of-bundles.ts';
import { bundleFile } from '../../test/helpers/corpus.ts';
import type { Bench } from '../../test/helpers/daemon.ts';
import { quantile } from '../search/latency.ts';
import { tableOf } from '../search/table.ts';
import { loadNow } from '../sites/shelf.ts';

const PAIRS = 30;
const PAGES = [
  { archive: 'docusaurus-classic.tar.gz', name: 'docusaurus', path: 'docs/intro' },
  { archive: 'sphinx-manual.tar.gz', name: 'sphinx', path: 'usage/quickstart.html' },
  { archive: 'nextjs-a-2024-06-01.tar.gz', name: 'nextjs', path: 'guides/rpc' },
];
const PAINTED = `new Promise((resolve) => {
  new PerformanceObserver((list) => {
    for (const { name, startTime } of list.getEntries()) if (name === 'first-contentful-paint') resolve(startTime);
  }).observe({ type: 'paint', buffered: true });
})`;

/** First contentful paint of a page with and without the box, each time in a new profile and in alternating order. */
export async function benchPaint(bench: Bench, launch: () => Promise<Browser>): Promise<void> {
  const bundles = PAGES.flatMap(({ archive, name }) =>
    [true, false].map((widget) => {
      const domain = `${name}-${widget ? 'with' : 'without'}`;
      return { archive: bundleFile(archive), entry: { domain, basePath: `/${domain}/`, search: { widget } } };
    }),
  );
  const daemon = await startShelf(bench, bundles, {});
  await daemon.until(({ sites }) => sites?.every(({ state }) => state === 'ready') === true, 600_000);
  const browser = await launch();
  const paintMs = async (domain: string, path: string): Promise<number> => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${daemon.site}/${domain}/${path}`);
    const at = await page.evaluate(PAINTED);
    await context.close();
    return at as number;
  };
  const rows: string[][] = [];
  for (const { name, path } of PAGES) {
    const visits = [`${name}-with`, `${name}-without`] as const;
    for (const domain of visits) await paintMs(domain, path);
    const pairs: { with: number; without: number }[] = [];
    for (let pair = 0; pair < PAIRS; pair += 1) {
      const times = new Map<string, number>();
      for (const domain of pair % 2 === 0 ? visits : visits.toReversed())
        times.set(domain, await paintMs(domain, path));
      pairs.push({ with: times.get(visits[0]) ?? 0, without: times.get(visits[1]) ?? 0 });
    }
    const median = (of: (pair: (typeof pairs)[number]) => number): number =>
      quantile(
        pairs.map(of).sort((left, right) => left - right),
        0.5,
      );
    rows.push([
      name,
      `${median((pair) => pair.without).toFixed(0)} ms`,
      `${median((pair) => pair.with).toFixed(0)} ms`,
      median((pair) => pair.with / pair.without).toFixed(3),
    ]);
  }
  console.log(`\n## First contentful paint, medians of ${PAIRS} pairs, ${loadNow()}\n`);
  console.log(tableOf(['', 'without the box', 'with it', 'median of the ratios'], rows));
}
