import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { writeFileTable } from '../../src/files/index.ts';
import { EmbeddedEngine, type SearchRequest, SiteSearch } from '../../src/search/index.ts';
import { SEARCH_FOLDER } from '../../src/search/indexing/index-files.ts';
import { waitFor } from '../../test/helpers/wait-for.ts';
import { quantile } from './latency.ts';
import { SECTIONS_PER_PAGE, writeSyntheticSites } from './synthetic-bundle.ts';
import { tableOf } from './table.ts';
import { readTestSets } from './test-set.ts';

/**
 * `DOCSHELF_CORPUS=<folder> node bench/search/many-sites.ts [sites] [pages]`: resident memory and times of the search of many
 * sites in one engine, without the daemon. Aims for 100 sites of 100 pages: 600 MiB for the whole daemon, 250 ms for the first
 * query of a cold site. Linux only.
 */
const [sites = 100, pages = 100] = process.argv.slice(2).map(Number);
const MODEL = join(import.meta.dirname, '../../models/all-MiniLM-L6-v2');
/** Enough to fill the caches of the indexes. */
const ROUNDS = 10;
const QUESTIONS = 'questions.json';

const digestOf = (number: number): string => createHash('sha256').update(`${number}`).digest('hex');

const folder = process.env.DOCSHELF_BENCH_FOLDER ?? '';
const until = (holds: () => boolean) =>
  waitFor(
    () => (holds() ? true : null),
    () => 'it takes too long',
    600_000,
  );

const seconds = (sinceMs: number): string => `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`;

function engineIn(dir: string): EmbeddedEngine {
  return new EmbeddedEngine({
    model: async () => ({ choice: { kind: 'folder', folder: MODEL }, embedder: null }),
    cacheDir: join(dir, 'vectors'),
    memoryBytesMax: 384 * 1024 ** 2,
  });
}

function releaseIn(dir: string, number: number) {
  const digest = digestOf(number);
  return { digest, releaseDir: join(dir, digest), trailingSlash: 'never' as const };
}

/** A fresh process, like a restarted daemon, because creating the sites takes memory. */
async function inFreshProcess(): Promise<void> {
  const made = mkdtempSync(join(tmpdir(), 'docshelf-bench-sites-'));
  try {
    const sets = readTestSets();
    const all = await writeSyntheticSites(sets, sites, pages * SECTIONS_PER_PAGE, (number) => {
      const releaseDir = join(made, digestOf(number));
      return { siteDir: join(releaseDir, 'site'), searchDir: join(releaseDir, SEARCH_FOLDER) };
    });
    const asked = sets.flatMap((set) => set.queries.map(({ query }) => query));
    writeFileSync(join(made, QUESTIONS), JSON.stringify(asked));
    const engine = engineIn(made);
    const { signal } = new AbortController();
    for (const [number, files] of all.entries()) {
      const release = releaseIn(made, number);
      const { releaseDir } = release;
      const entries = files.map(({ path, size }) => ({ path, size, sha256: '', type: 'text/html' }));
      await writeFileTable(releaseDir, entries);
      await engine.build(release, signal);
      await engine.embed(release, () => undefined, signal);
    }
    await engine.stop();
    const env = { ...process.env, DOCSHELF_BENCH_FOLDER: made };
    const args = [fileURLToPath(import.meta.url), `${sites}`, `${pages}`];
    spawnSync(process.execPath, args, { env, stdio: 'inherit' });
  } finally {
    rmSync(made, { recursive: true });
  }
}

async function measure(): Promise<void> {
  const rows: string[][] = [];
  const note = (what: string, detail: string) => rows.push([what, `${residentMib().toFixed(0)} MiB`, detail]);
  const engine = engineIn(folder);
  note('before', '');
  const shelf = Array.from({ length: sites }, (_, number) => {
    const release = releaseIn(folder, number);
    const onEvent = () => undefined;
    const search = new SiteSearch({ index: engine, isSemantic: true, embedAfterMs: 0, onEvent });
    return { release, search };
  });
  const startedMs = performance.now();
  for (const { release, search } of shelf) search.switchTo(release, 'v1');
  await until(() => shelf.every(({ search }) => search.status.keyword === 'ready'));
  note('searchable by words', seconds(startedMs));
  await until(() => shelf.every(({ search }) => search.status.semantic === 'ready'));
  note('searchable by meaning', seconds(startedMs));
  const questions = JSON.parse(readFileSync(join(folder, QUESTIONS), 'utf8')) as string[];
  const ask = (search: SiteSearch, number: number) => timesOf(search, questions[number % questions.length] ?? '');
  const cold: Times[] = [];
  for (const [number, { search }] of shelf.entries()) cold.push(await ask(search, number));
  note('each asked once, the first', summaryOf(cold.slice(0, 1)));
  note('each asked once, the others', summaryOf(cold.slice(1)));
  const warm: Times[] = [];
  for (let round = 1; round <= ROUNDS; round += 1)
    for (const [number, { search }] of shelf.entries()) warm.push(await ask(search, number + round * sites));
  note(`each asked ${ROUNDS} times more`, summaryOf(warm));
  await engine.stop();
  console.log(`\n## ${sites} sites of ${pages} pages, ${pages * SECTIONS_PER_PAGE} sections each, in one engine\n`);
  console.log(tableOf(['', 'resident', 'time'], rows));
}

/** Times in ms. Processor time covers all threads, and does not depend on other load. */
interface Times {
  readonly wall: number;
  readonly cpu: number;
}

async function timesOf(search: SiteSearch, query: string): Promise<Times> {
  const filter = { version: null, language: null, tag: null };
  const request: SearchRequest = { query, pageSize: 10, scoreThreshold: null, prefixLast: false, filter };
  const [startedMs, before] = [performance.now(), process.cpuUsage()];
  const { count } = await search.search(request);
  if (count === 0) throw new Error(`nothing is found for "${query}"`);
  const { user, system } = process.cpuUsage(before);
  return { wall: performance.now() - startedMs, cpu: (user + system) / 1000 };
}

function summaryOf(times: readonly Times[]): string {
  const parts = (['wall', 'cpu'] as const).map((of) => {
    const rising = times.map((each) => each[of]).sort((a, b) => a - b);
    return [0.5, 0.99, 1].map((part) => quantile(rising, part).toFixed(1)).join(' / ');
  });
  return `p50 / p99 / most: ${parts[0]} ms, of processor time ${parts[1]} ms`;
}

/** proc(5). */
function residentMib(): number {
  const [, kib] = /VmRSS:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kib) / 1024;
}

if (folder === '') await inFreshProcess();
else await measure();
