import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { type ConfigFile, type DaemonProcess, openBench, startDaemon, waitFor } from '../helpers/daemon.ts';
import { freePort } from '../helpers/free-ports.ts';
import { HAS_POSTGRES, PostgresServer } from '../helpers/postgres.ts';
import { runs } from '../helpers/runs.ts';
import { sha256Of } from './bundles.ts';
import {
  adminKey,
  type Exporter,
  exporterOf,
  JOBS,
  problemOf,
  SITE,
  startExporter,
  writeSite,
} from './export-service.ts';

const bench = openBench(afterEach);
const APIS = 3;
const WORKERS = 4;
const ORGANIZATIONS = ['a', 'b', 'c', 'd', 'e'];
const DOMAINS_OF_EACH = 3;
const JOBS_OF_EACH = runs(6);
const ALL_JOBS = ORGANIZATIONS.length * JOBS_OF_EACH;
const ALL_MS_MAX = runs(240_000);

const keyOf = (organization: string): string => `svc_shared-${organization}`;

interface Service {
  readonly apis: readonly Exporter[];
  readonly workers: readonly DaemonProcess[];
  readonly postgres: PostgresServer;
}

/** Daemons on one database and, in place of a bucket, one data folder. */
async function startService(apiCount: number, workerCount: number): Promise<Service> {
  const postgres = await PostgresServer.start();
  const folder = await bench.folder();
  await writeSite(join(folder, 'site'), SITE);
  await writeFile(join(folder, 'database-url'), await postgres.createDatabase());
  const source = { kind: 'folder', path: './site' };
  const organizations = ORGANIZATIONS.map((id) => ({
    id,
    plan: 'enterprise',
    domains: Object.fromEntries(Array.from({ length: DOMAINS_OF_EACH }, (_, n) => [`${id}-${n}`, { source }])),
    keys: [adminKey('ci', keyOf(id))],
  }));
  const exportApi = { role: 'api', queue: { lease: '10s' } };
  const database = { urlFile: './database-url' };
  const first = await startExporter(
    bench,
    { organizations, exportApi, database, search: { enabled: false } },
    { folder },
  );
  const config = parse(await readFile(first.daemon.configFile, 'utf8')) as ConfigFile;
  const another = async (name: string, role: string, port: number): Promise<DaemonProcess> => {
    const file = join(folder, `${name}.yaml`);
    await writeFile(file, stringify({ ...config, api: { port }, exportApi: { enabled: true, ...exportApi, role } }));
    const daemon = await startDaemon(file);
    bench.onEnd(() => daemon.kill());
    return daemon;
  };
  const apis = [first];
  for (let at = 1; at < apiCount; at++) {
    const port = await freePort();
    apis.push(exporterOf(await another(`api-${at}`, 'api', port), port));
  }
  const workers: DaemonProcess[] = [];
  for (let at = 0; at < workerCount; at++) workers.push(await another(`worker-${at}`, 'worker', 0));
  return { apis, workers, postgres };
}

const told = (daemon: DaemonProcess, event: string): string[] =>
  daemon.lines().flatMap((line) => (line.event === event ? [String(line.jobId)] : []));

const logsOf = (workers: readonly DaemonProcess[]): string => workers.map((worker) => worker.log()).join('\n');

describe.skipIf(!HAS_POSTGRES)('daemons on one database', () => {
  test(`${ALL_JOBS} jobs of five organizations end once each, while a worker is killed and the database is away`, {
    timeout: ALL_MS_MAX + 60_000,
  }, async () => {
    const { apis, workers, postgres } = await startService(APIS, WORKERS);
    const api = (at: number): Exporter => apis[at % APIS] as Exporter;
    const ordered = await Promise.all(
      ORGANIZATIONS.flatMap((organization, of) =>
        Array.from({ length: JOBS_OF_EACH }, async (_, n) => {
          const domain = `${organization}-${n % DOMAINS_OF_EACH}`;
          const { jobId } = await api(n + of)
            .as(keyOf(organization))
            .start(domain, { version: `v${n}` });
          return { organization, jobId };
        }),
      ),
    );
    expect(new Set(ordered.map(({ jobId }) => jobId)).size).toBe(ALL_JOBS);

    const busy = (): DaemonProcess | undefined =>
      workers.find((worker) => told(worker, 'job-started').length > told(worker, 'job-completed').length);
    const victim = await waitFor(
      async () => busy() ?? null,
      () => 'no worker has begun a job',
    );
    await victim.kill();

    await waitFor(
      async () => (workers.flatMap((worker) => told(worker, 'job-completed')).length >= ALL_JOBS / 4 ? true : null),
      () => 'jobs do not end',
      ALL_MS_MAX,
    );
    await postgres.stop();
    const away = await api(1).as(keyOf('a')).call('GET', JOBS);
    expect(away.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await problemOf(away)).toMatchObject({ status: 503, code: 'database_unavailable' });
    expect((await api(1).daemon.status()).jobs).toEqual({ queued: 0, running: 0 });
    await postgres.go();

    for (const [at, { organization, jobId }] of ordered.entries()) {
      // Whichever process is asked.
      const client = api(at + 1).as(keyOf(organization));
      const job = await waitFor(
        async () => {
          const found = await client.job(jobId).catch(() => null);
          return found === null || found.status === 'queued' || found.status === 'running' ? null : found;
        },
        () => `${jobId} does not end`,
        ALL_MS_MAX,
      );
      expect(job.error, `${jobId}:\n${logsOf(workers)}`).toBeNull();
      expect(job).toMatchObject({ status: 'completed', progress: 100, pageCount: 2 });
      const { bundleUrl, sha256 } = await client.bundle(jobId);
      if (at % ORGANIZATIONS.length === 0) expect(sha256Of(await client.download(bundleUrl))).toBe(sha256);
    }
    const completions = workers.flatMap((worker) => told(worker, 'job-completed'));
    expect(new Set(completions).size).toBe(completions.length);
    for (const organization of ORGANIZATIONS) {
      const { jobs } = await api(0).as(keyOf(organization)).jobs('?limit=100');
      expect(jobs).toHaveLength(Math.min(100, JOBS_OF_EACH));
    }
    expect(apis.flatMap(({ daemon }) => told(daemon, 'job-started'))).toEqual([]);
  });

  test('a daemon starts without its database, and takes jobs once that is there', async () => {
    const postgres = await PostgresServer.start();
    const folder = await bench.folder();
    await writeFile(join(folder, 'database-url'), await postgres.createDatabase());
    await postgres.stop();
    const service = await startExporter(bench, { database: { urlFile: './database-url' } }, { folder });
    expect(await problemOf(await service.call('POST', JOBS, { body: { domain: 'acme' } }))).toMatchObject({
      status: 503,
      code: 'database_unavailable',
    });
    await postgres.go();
    expect(await service.export()).toMatchObject({ status: 'completed' });
    expect(service.daemon.log()).not.toContain('hidden-word');
    expect(await service.daemon.stop()).toBe(0);
  });

  test('a canceled job of another daemon stops, and its report is told by each', async () => {
    const { apis, workers } = await startService(2, 1);
    const [first, second] = apis as [Exporter, Exporter];
    const { jobId } = await first.as(keyOf('a')).start('a-0');
    expect(await second.as(keyOf('a')).ended(jobId)).toMatchObject({ status: 'completed' });
    expect(await second.as(keyOf('a')).report(jobId)).toMatchObject({ jobId, pages: 2 });
    expect((await second.as(keyOf('b')).call('GET', `${JOBS}/${jobId}`)).status).toBe(404);
    for (const worker of workers) expect(await worker.stop()).toBe(0);
    const waiting = await first.as(keyOf('a')).start('a-1');
    await second.as(keyOf('a')).cancel(waiting.jobId);
    expect(await first.as(keyOf('a')).job(waiting.jobId)).toMatchObject({ status: 'failed', error: 'canceled' });
  });
});
