import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { packBundle } from '../../src/archive/pack.ts';
import { type Bench, waitFor, withDefaults } from '../../test/helpers/daemon.ts';
import { cpuMsOf } from '../../test/helpers/process-facts.ts';
import { startRoundRobin } from '../../test/helpers/round-robin.ts';
import { writePages } from '../export/pages.ts';
import { median } from '../latencies.ts';
import { packSynthetic } from '../search/synthetic-bundle.ts';
import { tableOf } from '../search/table.ts';
import { readTestSets } from '../search/test-set.ts';
import { type Server, startDocshelf } from '../serve/servers.ts';
import { type Load, runWrk } from '../serve/wrk.ts';
import { CoreShare } from './core-share.ts';

const PAGES = 1_000;
const SECTIONS = 10_000;
const ROUND_S = 6;
const READY_MS_MAX = 600_000;
const ALL_CORES = '0-1';
/** With round robin, every client would wait for the limited replica while the other is idle. */
const BALANCED = { method: 'least_conn' };

interface Case {
  readonly name: string;
  readonly load: Load;
}

interface Replicated {
  /** Folder of the bundle. */
  readonly bundles: string;
  /** Page of the bundle. */
  readonly page: string;
  readonly cases: readonly Case[];
}

/** Processor microseconds are per request. */
interface ServeRates {
  readonly name: string;
  readonly one: number;
  readonly two: number;
  readonly replicaUs: number;
  readonly proxyUs: number;
}

/** Rates of one replica, and of two behind nginx, which selects the less busy one. Interleaved rounds, medians. */
interface Rounds {
  readonly rounds: number;
  /** Cores of each replica. Null: no limit. */
  readonly cores: number | null;
}

export async function benchPages(bench: Bench, rounds: Rounds): Promise<void> {
  const folder = await bench.folder();
  const pages = writePages(join(folder, 'site'), PAGES);
  mkdirSync(join(folder, 'pages'));
  await packBundle({ entries: pages, to: join(folder, 'pages/docs-2024-06-01.tar.gz') });
  const headers = { 'Accept-Encoding': 'gzip' };
  const load = { targets: pages.map(({ path }) => `/${path}`), connections: 128, seconds: ROUND_S, headers };
  const cases = [{ name: 'pages', load }];
  print(await measureAll(folder, { bundles: 'pages', page: `/${pages[0]?.path}`, cases }, rounds), rounds);
}

export async function benchSearch(bench: Bench, rounds: Rounds): Promise<void> {
  const folder = await bench.folder();
  mkdirSync(join(folder, 'search'));
  const sets = readTestSets();
  await packSynthetic(sets, SECTIONS, join(folder, 'search/docs-2024-06-01.tar.gz'));
  const questions = sets.flatMap(({ queries }) => queries.map(({ query }) => encodeURIComponent(query.slice(0, 1000))));
  const load = { connections: 8, seconds: ROUND_S, isOfManyClients: true };
  const cases = ['legs=words&', ''].map((legs) => ({
    name: legs === '' ? 'search, both legs' : 'search, words',
    load: { ...load, targets: questions.map((question) => `/_docshelf/search?${legs}q=${question}`) },
  }));
  print(await measureAll(folder, { bundles: 'search', page: '/page-0.html', cases }, rounds), rounds);
}

function print(results: readonly ServeRates[], { cores }: Rounds): void {
  const rows = results.map(({ name, one, two, replicaUs, proxyUs }) => [
    ...[name, one.toFixed(0), two.toFixed(0), (two / one / 2).toFixed(2)],
    ...[replicaUs, proxyUs].map((us) => us.toFixed(0)),
  ]);
  const bound = cores === null ? 'as much of two cores as there is' : `${cores} of a core each`;
  console.log(`\n## Replicas with ${bound}, behind nginx, load ${loadavg()[0]?.toFixed(1)}\n`);
  console.log(tableOf(['', 'one', 'two', 'efficiency', 'processor µs a request: replica', 'nginx'], rows));
}

async function measureAll(
  folder: string,
  { bundles, page, cases }: Replicated,
  { rounds, cores }: Rounds,
): Promise<ServeRates[]> {
  const replicas = [await startReplica(bundles, folder, 0, page), await startReplica(bundles, folder, 1, page)];
  const pids = replicas.map(({ process: child }) => child.pid ?? 0);
  const proxies = [
    await startRoundRobin(
      replicas.slice(0, 1).map(({ origin }) => origin),
      BALANCED,
    ),
    await startRoundRobin(
      replicas.map(({ origin }) => origin),
      BALANCED,
    ),
  ];
  let shares: readonly CoreShare[] = [];
  try {
    for (const { load } of cases) for (const { origin } of replicas) await warm(origin, load);
    if (cores !== null) shares = pids.map((pid) => CoreShare.of(pid, cores));
    const results: ServeRates[] = [];
    for (const { load, name } of cases) {
      const measured: Measured[][] = [[], []];
      for (let round = 0; round < rounds; round += 1) {
        for (const at of round % 2 === 0 ? [0, 1] : [1, 0]) {
          const proxy = proxies[at];
          if (proxy === undefined) continue;
          const figures = await measure(proxy.origin, load, folder, pids, proxy.pid);
          measured[at]?.push(figures);
          console.error(`${name}, ${at + 1}: ${figures.rate.toFixed(0)} a second, load ${loadavg()[0]?.toFixed(1)}`);
        }
      }
      const of = (at: number, what: keyof Measured) => median((measured[at] ?? []).map((each) => each[what]));
      const us = { replicaUs: of(0, 'replicaUs'), proxyUs: of(0, 'proxyUs') };
      results.push({ name, one: of(0, 'rate'), two: of(1, 'rate'), ...us });
    }
    return results;
  } finally {
    for (const proxy of proxies) await proxy.close();
    for (const { process: child } of replicas) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    for (const share of shares) share.close();
  }
}

interface Measured {
  readonly rate: number;
  readonly replicaUs: number;
  readonly proxyUs: number;
}

async function measure(
  origin: string,
  load: Load,
  folder: string,
  replicas: readonly number[],
  proxy: number,
): Promise<Measured> {
  const pids = [proxy, ...replicas];
  // Excludes child processes, which compress files.
  const before = await Promise.all(pids.map(cpuMsOf));
  const { rate, requests, refused } = await runWrk(origin, load, folder);
  if (refused > 0) throw new Error(`${origin}: ${refused} of ${requests} answers are no pages`);
  const after = await Promise.all(pids.map(cpuMsOf));
  const [proxyUs = 0, ...ofReplicas] = after.map((ms, at) => ((ms - (before[at] ?? 0)) * 1000) / requests);
  return { rate, proxyUs, replicaUs: ofReplicas.reduce((sum, us) => sum + us, 0) };
}

async function startReplica(bundles: string, folder: string, at: number, page: string): Promise<Server> {
  const name = `${bundles}-${at}`;
  const config = withDefaults({
    staticExport: { preload: join(folder, bundles) },
    storage: { dir: `./data-${name}` },
    server: { trustedProxies: ['127.0.0.1'] },
    ...(bundles === 'search' ? { search: { model: 'builtin' } } : {}),
  });
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, stringify(config));
  const server = await startDocshelf(name, folder, file, ALL_CORES, page);
  if (bundles !== 'search') return server;
  await waitFor(
    async () => {
      const answer = await fetch(`${server.origin}/_docshelf/search?view=box&q=page`);
      const { semantic } = (await answer.json()) as { semantic?: boolean };
      return semantic === true ? true : null;
    },
    () => `${name} does not search by meaning`,
    READY_MS_MAX,
  );
  return server;
}

/** Excludes compression and the first read from the measurement. */
async function warm(origin: string, { targets, headers = {} }: Load): Promise<void> {
  for (const [at, target] of targets.entries()) {
    const client = `10.${Math.floor(at / 255)}.${at % 255}.1`;
    await (await fetch(origin + target, { headers: { ...headers, 'X-Forwarded-For': client } })).arrayBuffer();
  }
}
