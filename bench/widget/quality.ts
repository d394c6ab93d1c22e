import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { isStopWord } from '../../src/search/keyword/english.ts';
import { startShelf } from '../../test/browser/shelf-of-bundles.ts';
import type { Bench } from '../../test/helpers/daemon.ts';
import { packTarGz } from '../../test/helpers/pack-tar-gz.ts';
import { pagesOf } from '../search/http-engine.ts';
import { meanOf, measure } from '../search/measures.ts';
import { tableOf } from '../search/table.ts';
import { readTestSets } from '../search/test-set.ts';
import { withPagefind } from './pagefind.ts';

/** Pagefind requires all words of a question on one page. Without stop words it finds more. */
const ASKED: Readonly<Record<string, (query: string) => string>> = {
  'Pagefind, the question': (query) => query,
  'Pagefind, stop words out': (query) =>
    (query.match(/[\p{L}\p{N}_]+/gu) ?? []).filter((word) => !isStopWord(word.toLowerCase(), word)).join(' '),
};

/** nDCG@10 of Pagefind in the browser, on the pages that `bench/search/http.ts` serves. */
export async function benchQuality(bench: Bench, launch: () => Promise<Browser>): Promise<void> {
  const sets = readTestSets();
  const folder = await bench.folder();
  const bundles = [];
  for (const { name, documents } of sets) {
    const pages = new Map(pagesOf(documents).map(({ path, bytes }) => [path, bytes]));
    const { files } = await withPagefind(pages, await bench.folder());
    const archive = join(folder, `${name}-export-2026-01-01.tar.gz`);
    await packTarGz({ files: Array.from(files, ([path, bytes]) => ({ path, bytes })), to: archive });
    bundles.push({ archive, entry: { domain: name, hosts: [`${name}.localhost`] } });
  }
  const daemon = await startShelf(bench, bundles, { search: { enabled: false } });
  await daemon.until(({ sites }) => sites?.every(({ state }) => state === 'ready') === true, 600_000);
  const { port } = new URL(daemon.site);
  const page = await (await launch()).newPage();
  const rows: string[][] = [];
  for (const [name, asked] of Object.entries(ASKED)) {
    const row = [name];
    for (const { name: set, documents, queries } of sets) {
      await page.goto(`http://${set}.localhost:${port}/0.html`);
      await page.evaluate("(async () => { window.pagefind = await import('/pagefind/pagefind.js'); })()");
      let answered = 0;
      const search = async (query: string, limit: number): Promise<string[]> => {
        const found = (await page.evaluate(`(async () => {
          const { results } = await pagefind.search(${JSON.stringify(asked(query))});
          const pages = await Promise.all(results.slice(0, ${limit}).map((result) => result.data()));
          return pages.map(({ url }) => url);
        })()`)) as string[];
        answered += found.length > 0 ? 1 : 0;
        return found.map((url) => documents[Number(/\d+/.exec(url)?.[0])]?.id ?? url);
      };
      const ndcg = meanOf(await measure({ search, close: () => undefined }, queries), 'ndcg10');
      row.push(`${ndcg.toFixed(3)}, ${((100 * answered) / queries.length).toFixed(0)} %`);
    }
    rows.push(row);
  }
  console.log('\n## nDCG@10, and questions that anything is found for\n');
  console.log(tableOf(['', ...sets.map(({ name }) => name)], rows));
}
