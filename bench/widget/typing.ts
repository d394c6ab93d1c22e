import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { startShelf } from '../../test/browser/shelf-of-bundles.ts';
import type { Bench } from '../../test/helpers/daemon.ts';
import { quantile } from '../search/latency.ts';
import { pin } from '../search/served-bundle.ts';
import { packSynthetic } from '../search/synthetic-bundle.ts';
import { tableOf } from '../search/table.ts';
import { readTestSets } from '../search/test-set.ts';
import { loadNow } from '../sites/shelf.ts';

const SECTIONS = 10_000;
const WARM_UP = 20;
const QUERIES = 400;
/** Number of typed words when a person looks at the results. */
const WORDS_TYPED = 4;

/**
 * Times from the end of the debounce, when the request is sent, to the frame with its results. Runs in the page, whose `fetch`
 * marks the start: `legs=words` first, and `legs=all` if the response announces results by meaning.
 */
const TIMES = `
  const { fetch: plain } = window;
  const asked = { words: 0, all: 0 };
  window.fetch = (address, ...more) => {
    const legs = new URL(address).searchParams.get('legs');
    if (legs !== null) asked[legs] = performance.now();
    return plain(address, ...more);
  };
  const untilShown = (list) => new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
    });
    observer.observe(list, { childList: true });
  });
  window.timesOf = async (query) => {
    const root = document.querySelector('docshelf-search-dialog').shadowRoot;
    const [input, list] = ['input', '[role=listbox]'].map((selector) => root.querySelector(selector));
    Object.assign(asked, { words: 0, all: 0 });
    input.value = query;
    input.dispatchEvent(new Event('input'));
    const words = (await untilShown(list)) - asked.words;
    const all = (await untilShown(list)) - asked.all;
    return { words, all };
  };
`;

/** Times for a typing reader: daemon and browser share one core, and this process has the other. */
export async function benchTyping(bench: Bench, launch: () => Promise<Browser>): Promise<void> {
  const sets = readTestSets();
  const archive = join(await bench.folder(), 'synthetic-export-2026-01-01.tar.gz');
  await packSynthetic(sets, SECTIONS, archive);
  // Processes that start from here on have the same affinity.
  const isPinned = pin(process.pid, '0');
  const daemon = await startShelf(bench, [{ archive, entry: { domain: 'bench', basePath: '/' } }], {
    search: { widget: true, model: 'builtin' },
  });
  await daemon.until(({ sites }) => sites?.[0]?.search?.semantic === 'ready', 600_000);
  const browser = await launch();
  if (isPinned) pin(process.pid, '1');
  const page = await browser.newPage();
  await page.addInitScript(TIMES);
  await page.goto(`${daemon.site}/page-0.html`);
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').waitFor();
  const typed = sets
    .flatMap((set) => set.queries)
    .map(({ query }) => query.split(/\s+/).slice(0, WORDS_TYPED).join(' '));
  const queries = [...new Set(typed)].filter(
    (_, at, { length }) => at % Math.floor(length / (QUERIES + WARM_UP)) === 0,
  );
  const times: { words: number; all: number }[] = [];
  for (const query of queries.slice(0, QUERIES + WARM_UP))
    times.push((await page.evaluate(`timesOf(${JSON.stringify(query)})`)) as (typeof times)[number]);
  const rows = (['words', 'all'] as const).map((legs) => {
    const rising = times
      .slice(WARM_UP)
      .map((each) => each[legs])
      .sort((left, right) => left - right);
    return [
      legs === 'words' ? 'words, from the end of the debounce' : 'meaning joined in, from its question',
      ...[0.5, 0.9, 0.99].map((part) => `${quantile(rising, part).toFixed(0)} ms`),
    ];
  });
  console.log(
    `\n## To shown results: ${SECTIONS} sections, ${times.length - WARM_UP} queries, daemon and browser on ${isPinned ? 'one core' : 'all cores'}, ${loadNow()}\n`,
  );
  console.log(tableOf(['', 'p50', 'p90', 'p99'], rows));
  if (isPinned) pin(process.pid, '0-1');
}
