/**
 * A process that works on a queue, for the tests to let run side by side and to kill. It says what it did a line at a time,
 * after it was answered.
 *
 * - `hold`: claims a job, says its jobId, and writes down its progress as fast as it can, saying each, until it is killed.
 * - `work <letter> <jobs>`: adds that many jobs while it runs whatever is queued; says the jobId of each that it completed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { SqlJobQueue } from '../../../src/export/jobs/queue/sql-job-queue.ts';
import { openSqliteJobQueue } from '../../../src/export/jobs/queue/sqlite.ts';
import { POSTGRES_STATEMENTS } from '../../../src/export/jobs/queue/statements.ts';
import { openTestDatabase } from '../../database/open.ts';
import { BUNDLE, jobIdOf, LEASE_MS, newJob, reportOf } from './jobs.ts';

const [place = '', role = '', letter = '', count = '0'] = process.argv.slice(2);
/** Of those that work side by side, however slow the machine is. */
const LONG_LEASE_MS = 60_000;

const say = (line: string): void => {
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
  say(claim.job.jobId);
  for (let pageCount = 1; ; pageCount += 1) {
    if (!(await queue.advance(claim, { progress: 1, pageCount, checkpoint: `page ${pageCount}` }))) return;
    say(String(pageCount));
  }
}

async function work(jobs: number): Promise<void> {
  for (let added = 0; added < jobs || (await queue.counts()).queued > 0; ) {
    if (added < jobs) {
      // Both processes ask for the same few domains, so that their jobs stand in each other's way.
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
    const { jobId } = claim.job;
    await queue.advance(claim, { progress: 50, pageCount: 1 });
    if (await queue.complete(claim, BUNDLE, reportOf(jobId))) say(jobId);
  }
}
