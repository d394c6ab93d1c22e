import { loadavg } from 'node:os';
import { SqlJobQueue } from '../../src/export/jobs/queue/sql-job-queue.ts';
import { POSTGRES_STATEMENTS } from '../../src/export/jobs/queue/statements.ts';
import { BUNDLE, jobIdOf, LEASE_MS, newJob, QUEUED_MAX, reportOf } from '../../test/contract/job-queue/jobs.ts';
import { openTestDatabase } from '../../test/database/open.ts';
import type { PostgresServer } from '../../test/helpers/postgres.ts';
import { processorSeconds } from '../growth/processes.ts';
import { quantile } from '../latencies.ts';
import { tableOf } from '../search/table.ts';

const JOBS = 1_000;
const ORGANIZATIONS = 5;
const DOMAINS = 40;
/** Updates per job: the lease is renewed every 5 s by default, and each step reports progress. */
const SIGNS = 2;

/** Cost of a job in the database: the calls of its life, one after the other, from one process. */
export async function benchQueue(postgres: PostgresServer): Promise<void> {
  const database = openTestDatabase(await postgres.createDatabase());
  const queue = new SqlJobQueue({ database, statements: POSTGRES_STATEMENTS });
  const times = { added: [] as number[], claimed: [] as number[], renewed: [] as number[], ended: [] as number[] };
  const timed = async <Result>(into: number[], act: Promise<Result>): Promise<Result> => {
    const beganMs = performance.now();
    const result = await act;
    into.push(performance.now() - beganMs);
    return result;
  };
  await queue.claim(LEASE_MS);
  const before = processorSeconds(postgres.pid);
  for (let at = 0; at < JOBS; at += 1) {
    const job = newJob(jobIdOf(String(at)), {
      organizationId: `organization-${at % ORGANIZATIONS}`,
      domain: `site-${at % DOMAINS}`,
      version: `v${at}`,
    });
    await timed(times.added, queue.add(job, QUEUED_MAX));
    const claim = await timed(times.claimed, queue.claim(LEASE_MS));
    if (claim === null) throw new Error('a job that was added is not given');
    for (let sign = 0; sign < SIGNS; sign += 1)
      if ((await timed(times.renewed, queue.renew(claim))) !== 'held') throw new Error('a job was lost');
    if (!(await timed(times.ended, queue.complete(claim, BUNDLE, reportOf(job.jobId)))))
      throw new Error('a job was not ended');
  }
  const processorMs = ((processorSeconds(postgres.pid) - before) * 1000) / JOBS;
  await queue.close();
  await database.close();
  const rows = Object.entries(times).map(([name, ms]) => [
    name,
    ...[0.5, 0.99].map((part) => `${quantile(ms, part).toFixed(1)} ms`),
  ]);
  console.log(`\n## A job in the database, ${JOBS} one after the other, load ${loadavg()[0]?.toFixed(1)}\n`);
  console.log(tableOf(['', 'p50', 'p99'], rows));
  console.log(`\nProcessor time of the database for a job: ${processorMs.toFixed(1)} ms`);
}
