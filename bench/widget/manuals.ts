import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { request } from 'undici';
import { startShelf } from '../../test/browser/shelf-of-bundles.ts';
import { type Manual, pageOf, readManuals } from '../../test/corpus/questions.ts';
import { bundleFile } from '../../test/helpers/corpus.ts';
import type { Bench } from '../../test/helpers/daemon.ts';
import { packTarGz } from '../../test/helpers/pack-tar-gz.ts';
import { readArchive } from '../../test/helpers/read-archive.ts';
import { tableOf } from '../search/table.ts';
import { rootOf, withPagefind } from './pagefind.ts';

const RESULTS_MAX = 30;
const PLACES_MAX = 10;
/** The manuals have about 20,000 passages, in all their languages. */
const READY_MS_MAX = 120 * 60_000;

interface SearchStatus {
  readonly keyword?: string;
  readonly semantic?: string;
}

type Search = (manual: Manual, query: string) => Promise<readonly string[]>;

/**
 * Asks docshelf and Pagefind the questions of `questions.txt` on six manuals of the corpus, from an English page. Both orders are reduced
 * to pages: a page has the place of its best section.
 */
export async function benchManuals(bench: Bench, launch: () => Promise<Browser>): Promise<void> {
  const manuals = readManuals();
  const bundles = [];
  for (const { archive, name } of manuals) {
    const { files } = await withPagefind(rootOf(await readArchive(bundleFile(archive))), await bench.folder());
    const to = join(await bench.folder(), `${name}-export-2026-01-01.tar.gz`);
    await packTarGz({ files: Array.from(files, ([path, bytes]) => ({ path, bytes })), to });
    const entryOf = (domain: string) => ({ domain, hosts: [`${domain}.localhost`] });
    bundles.push(
      { archive: bundleFile(archive), entry: entryOf(`${name}-docshelf`) },
      { archive: to, entry: { ...entryOf(`${name}-pagefind`), search: { enabled: false } } },
    );
  }
  const daemon = await startShelf(bench, bundles, { search: { widget: true, model: 'builtin' } });
  const isReady = (of: (search: SearchStatus) => boolean) =>
    daemon.until(
      ({ sites }) => sites?.every(({ state, search }) => state === 'ready' && (!search || of(search))) === true,
      READY_MS_MAX,
    );
  await isReady(({ keyword }) => keyword !== 'building');
  const { port } = new URL(daemon.site);
  const docshelf = (legs: string): Search =>
    async function search(manual, query) {
      const { name, language } = manual;
      const parameters = new URLSearchParams({
        q: query,
        limit: String(RESULTS_MAX),
        legs,
        ...(language && { language }),
      });
      const { statusCode, headers, body } = await request(`http://127.0.0.1:${port}/_docshelf/search?${parameters}`, {
        headers: { host: `${name}-docshelf.localhost:${port}`, accept: 'application/json' },
      });
      const answer = (await body.json()) as readonly { path: string }[];
      if (statusCode === 200) return answer.map(({ path }) => path);
      // The daemon limits the searches of one client.
      if (statusCode !== 429) throw new Error(`the search responded with ${statusCode}: ${JSON.stringify(answer)}`);
      await sleep(1_000 * Number(headers['retry-after']));
      return search(manual, query);
    };
  const page = await (await launch()).newPage();
  const systems: Readonly<Record<string, Search>> = {
    'Pagefind 1.6.0': ({ name }, query) => searchPagefind(page, `http://${name}-pagefind.localhost:${port}/`, query),
    'docshelf, keywords': docshelf('words'),
    'docshelf, keywords and meaning': docshelf('all'),
  };
  const places = new Map<string, readonly number[]>();
  for (const [system, search] of Object.entries(systems)) {
    if (system.endsWith('meaning')) await isReady(({ semantic }) => semantic !== 'building');
    places.set(system, await placesOf(manuals, search));
    // Embedding takes long, so the first tables come before it.
    if (places.size > 1) print(manuals, places);
  }
}

/** Position of the expected page for each question, from 1. 0 if it is not among the first results. */
async function placesOf(manuals: readonly Manual[], search: Search): Promise<number[]> {
  const places: number[] = [];
  for (const manual of manuals)
    for (const { query, pages } of manual.questions) {
      const order = [...new Set((await search(manual, query)).map(pageOf))].slice(0, PLACES_MAX);
      places.push(order.findIndex((each) => pages.includes(each)) + 1);
    }
  return places;
}

function print(manuals: readonly Manual[], places: ReadonlyMap<string, readonly number[]>): void {
  console.log('\n## Questions about six manuals: expected page first, in the first three, MRR\n');
  const figures = Array.from(places, ([system, found]) => [system, ...figuresOf(found)]);
  console.log(tableOf(['', 'first', 'first three', 'MRR'], figures));
  const asked = manuals.flatMap(({ name, questions }) => questions.map(({ query }) => `${name}: ${query}`));
  const rows = asked.map((query, at) => [query, ...Array.from(places.values(), (found) => `${found[at] || '-'}`)]);
  console.log('\n## Place of the expected page, if it is not the first one everywhere\n');
  console.log(
    tableOf(
      ['', ...places.keys()],
      rows.filter(([, ...row]) => row.some((place) => place !== '1')),
    ),
  );
}

function figuresOf(places: readonly number[]): string[] {
  const within = (most: number) => places.filter((place) => place > 0 && place <= most).length;
  const sum = places.reduce((total, place) => total + (place > 0 ? 1 / place : 0), 0);
  return [`${within(1)} of ${places.length}`, `${within(3)} of ${places.length}`, (sum / places.length).toFixed(3)];
}

async function searchPagefind(page: Page, origin: string, query: string): Promise<string[]> {
  if (!page.url().startsWith(origin)) {
    await page.goto(origin);
    await page.evaluate("(async () => { window.pagefind = await import('/pagefind/pagefind.js'); })()");
  }
  return (await page.evaluate(`(async () => {
    const { results } = await pagefind.search(${JSON.stringify(query)});
    const pages = await Promise.all(results.slice(0, ${RESULTS_MAX}).map((result) => result.data()));
    return pages.map(({ url }) => url);
  })()`)) as string[];
}
