import { hash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { adminKey, type Exporter, startAgain, startExporter } from '../acceptance/export-service.ts';
import { type ConfigFile, openBench, waitFor } from '../helpers/daemon.ts';
import { SeededRandom, seedOfEnvironment } from '../helpers/random.ts';
import { readFolder } from '../helpers/read-archive.ts';
import { runs } from '../helpers/runs.ts';
import { setClock, withClock } from '../helpers/shifted-clock.ts';
import { writeFiles } from '../helpers/write-files.ts';

const KILLS = runs(15);
/** Minimum number of jobs. If few are left, another one is started, so that a kill always hits work. */
const JOBS = 20;
const UNFINISHED_MIN = 3;
const CONCURRENCY = 2;
/** Pages per site. An undisturbed export of them takes about a second. */
const PAGES = 200;
const SITE_COUNT = 5;
const KEY = 'svc_kill-admin';
/**
 * The clock jumps within the last day, never into the future: file times come from the machine, and a process that is ahead of
 * them would treat another one's files as old.
 */
const SHIFT_MS_MAX = 24 * 3_600_000;
const ALL_MS_MAX = runs(780_000);

const bench = openBench(afterAll);
const random = new SeededRandom(seedOfEnvironment());
/** Contents of the job's work folders at the time of each kill. */
const fellInto = new Map<string, number>();

test(`after kill -9 of a daemon at ${KILLS} random moments, each of at least ${JOBS} export jobs ends once, without a partial file`, {
  timeout: ALL_MS_MAX + 60_000,
}, async () => {
  const clock = join(await bench.folder(), 'clock');
  const env = withClock(clock);
  let api = await startApi(env);
  const logs = [api.daemon];

  const { ids: measured, ms: undisturbedMs } = await measure(api);
  const started: string[] = [];
  const startJob = async (): Promise<void> => {
    const number = started.length;
    started.push((await api.start(`site-${number % SITE_COUNT}`, { version: `v${number}` })).jobId);
  };
  const beganAt = performance.now();
  for (let kill = 0; kill < KILLS; kill++) {
    const { queued, running } = (await api.daemon.status()).jobs;
    for (let unfinished = queued + running; unfinished < UNFINISHED_MIN; unfinished++) await startJob();
    await waitFor(
      async () => ((await api.daemon.status()).jobs.running > 0 ? true : null),
      () => `no job runs, after ${kill} kills`,
    );
    // Twice the duration of a single job: two run at once, and some must complete.
    await sleep(random.next() * 2 * undisturbedMs);
    await note(api);
    await api.daemon.kill();
    setClock(clock, -random.next() * SHIFT_MS_MAX);
    api = withKey(await startAgain(bench, api, env));
    logs.push(api.daemon);
  }
  while (started.length < JOBS) await startJob();

  const ended = [];
  for (const jobId of started) ended.push(await api.ended(jobId));
  expect(ended.map(({ status, error }) => [status, error])).toEqual(ended.map(() => ['completed', null]));
  for (const job of ended) expect([job.progress, job.pageCount]).toEqual([100, PAGES]);
  const attemptsMax = Math.max(...logs.flatMap((worker) => worker.lines()).map(({ attempt }) => Number(attempt ?? 0)));
  const shown = [...fellInto].map(([what, count]) => `${what} ${count}`).join(', ');
  const seconds = ((performance.now() - beganAt) / 1000).toFixed(0);
  console.log(
    `figure: ${KILLS} kills of ${started.length} jobs in ${seconds} s (one takes ${undisturbedMs.toFixed(0)} ms): ${shown}; up to ${attemptsMax} attempts; seed ${random.seed}`,
  );

  // No job is lost or doubled: the list contains each one once, and no worker reported one twice.
  const listed = await allJobs(api);
  expect(listed.toSorted()).toEqual([...started, ...measured].toSorted());
  const completions = logs.flatMap((worker) => worker.lines()).filter(({ event }) => event === 'job-completed');
  const ids = completions.map(({ jobId }) => jobId);
  expect(new Set(ids).size).toBe(ids.length);
  const attempts = logs.flatMap((worker) => worker.lines()).filter(({ event }) => event === 'job-started');
  expect(attempts.length).toBeGreaterThan(started.length);
  const faults = logs.flatMap((worker) => worker.lines()).filter(({ step }) => String(step).startsWith('export'));
  expect(faults).toEqual([]);

  // Each link leads to the complete bundle of its digest.
  for (const jobId of started) {
    const { bundleUrl, sha256, sizeBytes } = await api.bundle(jobId);
    const bytes = await api.download(bundleUrl);
    expect([hash('sha256', bytes), bytes.length]).toEqual([sha256, sizeBytes]);
  }
  const exports = join(api.daemon.dataDir, 'exports');
  for (const [path, bytes] of await readFolder(join(exports, 'bundles'))) {
    expect(path).toBe(`${hash('sha256', bytes)}.tar.gz`);
  }
  const files = [...(await readFolder(join(exports, 'files')))].filter(([path]) => !path.startsWith('incoming/'));
  for (const [path, bytes] of files) expect(path.split('/').at(-1)).toBe(hash('sha256', bytes));
  expect(files.length).toBeGreaterThan(PAGES);
  await expect.poll(() => readdir(join(exports, 'work')), { timeout: 60_000 }).toEqual([]);
});

/** Ids of the complete list, page by page. */
async function allJobs(api: Exporter): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { jobs, nextCursor } = await api.jobs(`?limit=100${cursor && `&cursor=${cursor}`}`);
    ids.push(...jobs.map(({ jobId }) => jobId));
    cursor = nextCursor;
  }
  return ids;
}

/** Duration of an undisturbed job. */
async function measure(api: Exporter): Promise<{ readonly ids: string[]; readonly ms: number }> {
  const ids: string[] = [];
  const once = async (): Promise<number> => {
    const startMs = performance.now();
    ids.push((await api.export('site-0', { version: `m${ids.length}` })).jobId);
    return performance.now() - startMs;
  };
  // The first job also starts threads and fills caches.
  await once();
  const ms = await once();
  return { ids, ms };
}

/** Records the files of the attempt that is about to be killed. */
async function note({ daemon }: Exporter): Promise<void> {
  const work = join(daemon.dataDir, 'exports/work');
  const [attempt] = await readdir(work);
  const names = attempt === undefined ? [] : await readdir(join(work, attempt)).catch(() => []);
  const what = names.some((name) => name.startsWith('bundle'))
    ? 'packing'
    : names.includes('own')
      ? 'search data'
      : names.includes('site')
        ? 'checking'
        : attempt === undefined
          ? 'between jobs'
          : 'collecting';
  fellInto.set(what, (fellInto.get(what) ?? 0) + 1);
}

async function startApi(env: Readonly<Record<string, string>>): Promise<Exporter> {
  const folder = await bench.folder();
  const domains: Record<string, ConfigFile> = {};
  for (let site = 0; site < SITE_COUNT; site++) {
    const path = join(folder, `site-${site}`);
    await writeFiles(path, pagesOf(site));
    domains[`site-${site}`] = { source: { kind: 'folder', path } };
  }
  const organizations = [{ id: 'kill', plan: 'enterprise', domains, keys: [adminKey('ci', KEY)] }];
  const exportApi = { concurrency: CONCURRENCY, queue: { lease: '1s' } };
  return withKey(await startExporter(bench, { organizations, exportApi }, { folder, env }));
}

const withKey = (api: Exporter): Exporter => Object.assign(api.as(KEY), { daemon: api.daemon });

/** Compressible pages, each with a link to the next. */
function pagesOf(site: number): Record<string, string> {
  const text = (page: number) =>
    Array.from({ length: 60 }, (_, line) => `<p>${hash('sha256', `${site} ${page} ${line}`)}</p>`).join('\n');
  return Object.fromEntries(
    Array.from({ length: PAGES }, (_, page) => [
      page === 0 ? 'index.html' : `page-${page}.html`,
      `<!doctype html><html lang="en"><title>Page ${page}</title><h1>Page ${page}</h1>${text(page)}<a href="${page + 1 < PAGES ? `page-${page + 1}` : 'index'}.html">Next</a></html>`,
    ]),
  );
}
