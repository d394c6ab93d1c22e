/**
 * A process that works on a queue, for tests with several processes and kills. It prints a line after each completed action.
 * `hold`: claims a job, prints its id, and writes its progress as fast as possible, until it is killed. `work <letter> <jobs>`:
 * adds that number of jobs while it runs queued jobs, and prints the id of each completed one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { SqlJobQueue } from '../../../src/export/jobs/queue/sql-job-queue.ts';
import { openSqliteJobQueue } from '../../../src/export/jobs/queue/sqlite.ts';
import { POSTGRES_STATEMENTS } from '../../../src/export/jobs/queue/statements.ts';
import { openTestDatabase } from '../../database/open.ts';
import { BUNDLE, jobIdOf, LEASE_MS, newJob, reportOf } from './jobs.ts';

const [place = '', role = '', letter = '', count = '0'] = process.argv.slice(2);
/** For concurrent processes on slow machines. */
const LONG_LEASE_MS = 60_000;

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const database = place.startsWith('postgres:') ? openTestDatabase(place) : null;
const queue =
  database === null
    ? await openSqliteJobQueue({ file: place })
    : new SqlJobQueue({ database, statements: POSTGRES_STATEMENTS });

if (role === 'hold') await hold();
else await work(Number(count));
await queue.close();
await database?.close();

async function hold(): Promise<void> {
  const claim = await queue.claim(LEASE_MS);
  if (claim === null) throw new Error('there is no job to hold');
  print(claim.jobId);
  for (let pageCount = 1; ; pageCount += 1) {
    if (!(await queue.advance(claim, { progress: 1, pageCount, checkpoint: `page ${pageCount}` }))) return;
    print(String(pageCount));
  }
}

async function work(jobs: number): Promise<void> {
  for (let added = 0; added < jobs || (await queue.counts()).queued > 0; ) {
    if (added < jobs) {
      // Both processes request the same few domains, so that their jobs block each other.
      const domain = `domain-${added % 5}`;
      await queue.add(
        newJob(jobIdOf(`${letter}${added}`), {
          organizationId: `org-${added % 5}`,
          domain,
          version: `${letter}${added}`,
        }),
        jobs * 2,
      );
      added += 1;
    }
    const claim = await queue.claim(LONG_LEASE_MS);
    if (claim === null) {
      await sleep(1);
      continue;
    }
    const { jobId } = claim;
    await queue.advance(claim, { progress: 50, pageCount: 1 });
    if (await queue.complete(claim, BUNDLE, reportOf(jobId))) print(jobId);
  }
}
