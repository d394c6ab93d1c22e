import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Job } from '../../src/domain/job.ts';
import { type Bench, type DaemonProcess, startDaemon, waitFor, withDefaults } from '../../test/helpers/daemon.ts';
import { freePort } from '../../test/helpers/free-ports.ts';
import type { PostgresServer } from '../../test/helpers/postgres.ts';
import { writePages } from '../export/pages.ts';
import { processorSeconds } from '../growth/processes.ts';
import { median } from '../latencies.ts';
import { tableOf } from '../search/table.ts';
import { CoreShare } from './core-share.ts';

const ORGANIZATIONS = ['a', 'b', 'c', 'd'];
const DOMAINS_OF_EACH = 4;
const JOBS = ORGANIZATIONS.length * DOMAINS_OF_EACH;
const PAGES = 20;
const WORKERS = [1, 2, 4];
const ROUND_MS_MAX = 900_000;
const sites = ORGANIZATIONS.flatMap((organization) =>
  Array.from({ length: DOMAINS_OF_EACH }, (_, at) => ({ organization, domain: `${organization}-${at}` })),
);
const keyOf = (organization: string): string => `svc_${organization}`;

/** Rates for a number of workers. Processor seconds are per job. */
interface JobRates {
  readonly workers: number;
  readonly jobsAMinute: number;
  readonly workerS: number;
  readonly apiS: number;
  readonly databaseS: number;
}

interface Service {
  readonly folder: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly origin: string;
  readonly api: DaemonProcess;
  readonly postgres: PostgresServer;
}

/**
 * Jobs per minute of 1, 2 and 4 workers with one API process, one database and one data folder. Each export has a new site: 20
 * pages of 20 KB with search data, without vectors. Interleaved rounds, medians. @param cores of each worker, or null for no
 * limit
 */
export async function benchJobs(
  bench: Bench,
  postgres: PostgresServer,
  { rounds, cores }: { readonly rounds: number; readonly cores: number | null },
): Promise<void> {
  const service = await startService(bench, postgres);
  const measured = new Map<number, JobRates[]>(WORKERS.map((workers) => [workers, []]));
  for (let round = 0; round < rounds; round += 1) {
    const from = round % WORKERS.length;
    for (const workers of [...WORKERS.slice(from), ...WORKERS.slice(0, from)]) {
      const rates = await measure(service, workers, cores, round * 10 + workers);
      measured.get(workers)?.push(rates);
      console.error(
        `${workers} workers: ${rates.jobsAMinute.toFixed(1)} jobs a minute, load ${loadavg()[0]?.toFixed(1)}`,
      );
    }
  }
  await service.api.stop();
  const medians = Array.from(measured, ([workers, all]) => {
    const of = (what: keyof JobRates) => median(all.map((each) => each[what]));
    const seconds = { workerS: of('workerS'), apiS: of('apiS'), databaseS: of('databaseS') };
    return { workers, jobsAMinute: of('jobsAMinute'), ...seconds };
  });
  print(medians, cores);
}

function print(all: readonly JobRates[], cores: number | null): void {
  const one = all.find(({ workers }) => workers === 1)?.jobsAMinute ?? Number.NaN;
  const rows = all.map(({ workers, jobsAMinute, workerS, apiS, databaseS }) => [
    String(workers),
    jobsAMinute.toFixed(1),
    (jobsAMinute / one / workers).toFixed(2),
    ...[workerS, apiS, databaseS].map((seconds) => `${(1000 * seconds).toFixed(0)}`),
  ]);
  const bound = cores === null ? 'as much of two cores as there is' : `${cores} of a core each`;
  console.log(`\n## Jobs: workers with ${bound}, load ${loadavg()[0]?.toFixed(1)}\n`);
  const head = ['workers', 'jobs a minute', 'efficiency', 'processor ms a job: workers', 'API', 'database'];
  console.log(tableOf(head, rows));
}

async function startService(bench: Bench, postgres: PostgresServer): Promise<Service> {
  const folder = await bench.folder();
  writeFileSync(join(folder, 'database-url'), await postgres.createDatabase());
  const organizations = ORGANIZATIONS.map((id) => ({
    id,
    plan: 'enterprise',
    domains: Object.fromEntries(
      sites
        .filter(({ organization }) => organization === id)
        .map(({ domain }) => [domain, { source: { kind: 'folder', path: `./sites/${domain}` } }]),
    ),
    keys: [{ id: 'ci', type: 'admin', sha256: createHash('sha256').update(keyOf(id)).digest('hex') }],
  }));
  const port = await freePort();
  const config = {
    deployment: { domain: sites[0]?.domain },
    staticExport: { enabled: false },
    search: { model: 'off' },
    log: { access: false },
    ...{ organizations, database: { urlFile: './database-url' }, api: { port } },
    exportApi: { enabled: true, role: 'api' },
  };
  const api = await bench.start(config, { folder });
  return { folder, config, origin: `http://127.0.0.1:${port}`, api, postgres };
}

async function measure(service: Service, count: number, cores: number | null, seed: number): Promise<JobRates> {
  const { folder, api, postgres } = service;
  for (const [at, { domain }] of sites.entries()) {
    mkdirSync(join(folder, 'sites', domain), { recursive: true });
    writePages(join(folder, 'sites', domain), PAGES, (seed * sites.length + at + 1) * PAGES);
  }
  const workers: DaemonProcess[] = [];
  const shares: CoreShare[] = [];
  try {
    for (let at = 0; at < count; at += 1) workers.push(await startWorker(service, at));
    if (cores !== null) for (const { pid } of workers) shares.push(CoreShare.of(pid, cores));
    const pids = [...workers.map(({ pid }) => pid), api.pid, postgres.pid];
    const before = pids.map(processorSeconds);
    const beganMs = performance.now();
    await Promise.all(sites.map(({ organization, domain }) => order(service, organization, domain, `v${seed}`)));
    await waitFor(
      () => (workers.reduce((sum, worker) => sum + completions(worker), 0) === JOBS ? true : null),
      () => 'jobs do not end',
      ROUND_MS_MAX,
    );
    const minutes = (performance.now() - beganMs) / 60_000;
    const taken = pids.map((pid, at) => processorSeconds(pid) - (before[at] ?? 0));
    const [databaseS = 0, apiS = 0, ...workerS] = taken.reverse().map((seconds) => seconds / JOBS);
    const ofWorkers = workerS.reduce((sum, seconds) => sum + seconds, 0);
    return { workers: count, jobsAMinute: JOBS / minutes, workerS: ofWorkers, apiS, databaseS };
  } finally {
    for (const worker of workers) await worker.stop();
    for (const share of shares) share.close();
  }
}

async function startWorker({ folder, config }: Service, at: number): Promise<DaemonProcess> {
  const file = join(folder, `worker-${at}.yaml`);
  writeFileSync(
    file,
    stringify(withDefaults({ ...config, api: { port: 0 }, exportApi: { enabled: true, role: 'worker' } })),
  );
  return startDaemon(file);
}

function completions(worker: DaemonProcess): number {
  const log = worker.log();
  if (log.includes('"job-failed"')) throw new Error(`a job failed: ${log}`);
  return log.match(/"job-completed"/g)?.length ?? 0;
}

async function order({ origin }: Service, organization: string, domain: string, version: string): Promise<Job> {
  const response = await fetch(`${origin}/v1/static-export/jobs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keyOf(organization)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ domain, version }),
  });
  if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as Job;
}
