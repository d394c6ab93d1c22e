import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { Job } from '../../src/domain/job.ts';
import { type DaemonProcess, openBench, waitFor } from '../helpers/daemon.ts';
import { HAS_POSTGRES } from '../helpers/postgres.ts';
import { SeededRandom, seedOfEnvironment } from '../helpers/random.ts';
import { runs } from '../helpers/runs.ts';
import { sha256Of } from './bundles.ts';
import { JOBS, problemOf } from './export-service.ts';
import { claimsInTurn, type JobChange, jobChanges, recordJobChanges } from './job-changes.ts';
import { DOMAINS_OF_EACH, ORGANIZATIONS, SharedService } from './shared-service.ts';

const bench = openBench(afterEach);

/** 500 requests in all in a soak run. */
const ROUNDS = runs(1);
const ORDERS_OF_A_ROUND = 50;
const EVENTS = ['kill', 'kill', 'kill', 'cut', 'cut', 'stop', 'crash'] as const;
const ROUND_MS_MAX = 240_000;
const TAKEOVER_MS_MAX = 60_000;

interface Order {
  readonly organization: string;
  readonly jobId: string;
  readonly pages: number;
}

interface Kill {
  readonly jobId: string;
  readonly attempt: number;
  readonly atMs: number;
}

/** Starts random jobs of random organizations while workers are killed and the database stops and starts. */
class Chaos {
  readonly orders: Order[] = [];
  readonly kills: Kill[] = [];
  readonly #service: SharedService;
  readonly #random: SeededRandom;

  constructor(service: SharedService, random: SeededRandom) {
    this.#service = service;
    this.#random = random;
  }

  /** Each request has its own version label. */
  async order(count: number): Promise<void> {
    const random = this.#random;
    const requests = Array.from({ length: count }, (_, n) => ({
      organization: random.pick(ORGANIZATIONS),
      domain: Math.floor(random.next() * DOMAINS_OF_EACH),
      version: `v${this.orders.length + n}`,
      paths: random.pick([null, ['/'], ['/guides/start'], ['/', '/guides/start']]),
      api: n,
    }));
    const started = requests.map(async ({ organization, domain, version, paths, api }) => {
      const more = paths === null ? { version } : { version, paths };
      const { jobId } = await waitFor(
        // The first request can use a connection that was cut.
        () => this.#service.as(organization, api).start(`${organization}-${domain}`, more).catch(ifAway),
        () => `${organization} cannot order`,
      );
      return { organization, jobId, pages: paths?.length ?? 2 };
    });
    this.orders.push(...(await Promise.all(started)));
  }

  async act(event: (typeof EVENTS)[number]): Promise<void> {
    const { postgres } = this.#service;
    if (event === 'kill') return this.#killWorker();
    if (event === 'cut') {
      const ours = `FROM pg_stat_activity WHERE application_name = 'docshelf'`;
      const cut = await this.#service.query(`SELECT pg_terminate_backend(pid) ${ours}`);
      expect(cut.length).toBeGreaterThan(0);
      return;
    }
    await postgres.stop(event === 'stop' ? 'SIGINT' : 'SIGQUIT');
    const away = await this.#service.as('a', 1).call('GET', JOBS);
    expect(away.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await problemOf(away)).toMatchObject({ status: 503, code: 'database_unavailable' });
    await sleep(3_000 * this.#random.next());
    await postgres.go();
  }

  async completed(): Promise<number> {
    const [row] = await this.#service.query(
      `SELECT count(*)::int AS jobs FROM docshelf.export_jobs WHERE status = 'completed'`,
    );
    return Number(row?.jobs);
  }

  /** Kills a worker in the middle of a job, and starts another one. */
  async #killWorker(): Promise<void> {
    await waitFor(
      async () => {
        const busy = this.#service.workers.filter((worker) => begunBy(worker) !== null);
        if (busy.length === 0) return null;
        const victim = this.#random.pick(busy);
        // Stop the worker, so that its job stays running during the check.
        victim.signal('SIGSTOP');
        const begun = begunBy(victim);
        const [row] = await this.#service.query(
          `SELECT status, attempt FROM docshelf.export_jobs WHERE job_id = '${begun?.jobId}'`,
        );
        if (begun === null || row?.status !== 'running' || row.attempt !== begun.attempt) {
          victim.signal('SIGCONT');
          return null;
        }
        const atMs = Date.now();
        await victim.kill();
        this.kills.push({ ...begun, atMs });
        return victim;
      },
      () => 'no worker has begun a job',
    );
    await this.#service.addWorker();
  }
}

function ifAway(error: unknown): null {
  if (String(error).includes('database_unavailable')) return null;
  throw error;
}

/** The job that a worker's log reports as started but not as ended. A killed worker has none. */
function begunBy(worker: DaemonProcess): Pick<Kill, 'jobId' | 'attempt'> | null {
  if (!worker.isRunning) return null;
  const last = worker.lines().findLast(({ event }) => String(event).startsWith('job-'));
  return last?.event === 'job-started' ? { jobId: String(last.jobId), attempt: Number(last.attempt) } : null;
}

/** Requests bundles of any job and reads them, until it is stopped. */
async function readBundles(
  service: SharedService,
  orders: readonly Order[],
  random: SeededRandom,
  signal: AbortSignal,
) {
  const statuses = new Set<number>();
  let read = 0;
  for (let at = 0; !signal.aborted; at += 1) {
    await sleep(50);
    if (orders.length === 0) continue;
    const { organization, jobId } = random.pick(orders);
    const client = service.as(organization, at);
    const response = await client.call('POST', `${JOBS}/${jobId}/bundle`);
    statuses.add(response.status);
    if (response.status !== 200) continue;
    const { bundleUrl, sha256 } = (await response.json()) as { bundleUrl: string; sha256: string };
    expect(sha256Of(await client.download(bundleUrl)), jobId).toBe(sha256);
    read += 1;
  }
  return { read, statuses };
}

const isEnd = ({ status }: Pick<JobChange, 'status'>): boolean => status === 'completed' || status === 'failed';

describe.skipIf(!HAS_POSTGRES)('daemons on one database', () => {
  test(`complete ${ROUNDS * ORDERS_OF_A_ROUND} jobs of five organizations exactly once and in turn, while workers are killed and the database fails`, {
    timeout: ROUNDS * ROUND_MS_MAX + 60_000,
  }, async () => {
    const random = new SeededRandom(seedOfEnvironment());
    const seed = `DOCSHELF_SEED=${random.seed}`;
    const service = await SharedService.start(bench, { apis: 3, workers: 4 });
    // The first claim has created the tables of the queue.
    await service.as('a').export('a-0');
    await recordJobChanges(service);
    const chaos = new Chaos(service, random);
    const over = new AbortController();
    const reading = readBundles(service, chaos.orders, new SeededRandom(random.seed + 1), over.signal);
    reading.catch(() => undefined);

    for (let round = 0; round < ROUNDS; round += 1) {
      await chaos.order(ORDERS_OF_A_ROUND - 2 * EVENTS.length);
      for (const event of EVENTS.toSorted(() => random.next() - 0.5)) {
        const before = await chaos.completed();
        await chaos.order(2);
        await waitFor(
          async () => (event === 'kill' || (await chaos.completed()) > before ? true : null),
          () => `${seed}: jobs do not end: ${service.logs()}`,
          ROUND_MS_MAX,
        );
        await chaos.act(event);
      }
      const orders = chaos.orders.slice(round * ORDERS_OF_A_ROUND);
      expect(orders).toHaveLength(ORDERS_OF_A_ROUND);
      for (const [at, { organization, jobId, pages }] of orders.entries()) {
        // Any process can respond.
        const client = service.as(organization, at);
        const job = await waitFor<Job>(
          async () => {
            const found = await client.job(jobId).catch(() => null);
            return found !== null && isEnd(found) ? found : null;
          },
          () => `${seed}: ${jobId} does not end: ${service.logs()}`,
          ROUND_MS_MAX,
        );
        expect(job, `${seed}:\n${service.logs()}`).toMatchObject({
          status: 'completed',
          error: null,
          progress: 100,
          pageCount: pages,
        });
        const { bundleUrl, sha256 } = await client.bundle(jobId);
        expect(sha256Of(await client.download(bundleUrl)), `${seed}: ${jobId}`).toBe(sha256);
      }
    }
    over.abort();
    const { read, statuses } = await reading;
    expect(read).toBeGreaterThan(0);
    expect([...statuses].filter((status) => ![200, 409, 503].includes(status))).toEqual([]);

    const changes = await jobChanges(service);
    const wanted = chaos.orders.map(({ jobId }) => jobId).toSorted();
    expect(
      changes
        .filter(({ former }) => former === null)
        .map(({ jobId }) => jobId)
        .toSorted(),
    ).toEqual(wanted);
    expect(
      changes
        .filter(isEnd)
        .map(({ jobId }) => jobId)
        .toSorted(),
      seed,
    ).toEqual(wanted);
    const completedLines = service.workers.flatMap((worker) =>
      worker.lines().filter(({ event }) => event === 'job-completed'),
    );
    expect(new Set(completedLines.map(({ jobId }) => jobId)).size).toBe(completedLines.length);
    expect(service.apis.flatMap(({ daemon }) => daemon.lines().filter(({ event }) => event === 'job-started'))).toEqual(
      [],
    );

    const { unfair, choices } = claimsInTurn(changes);
    expect(unfair, seed).toEqual([]);
    process.stdout.write(`claims that could choose between organizations: ${choices}\n`);
    expect(choices).toBeGreaterThan(ORDERS_OF_A_ROUND / 5);

    const takeoversMs = chaos.kills.flatMap(({ jobId, attempt, atMs }) => {
      const next = changes.find((change) => change.jobId === jobId && change.atMs > atMs);
      return next?.attempt === attempt + 1 ? [next.atMs - atMs] : [];
    });
    process.stdout.write(
      `jobs of killed workers went on after ${takeoversMs.map((ms) => (ms / 1000).toFixed(1)).join(', ')} s (${seed})\n`,
    );
    expect(takeoversMs.length).toBeGreaterThan(0);
    expect(Math.max(...takeoversMs)).toBeLessThan(TAKEOVER_MS_MAX);
  });
});
