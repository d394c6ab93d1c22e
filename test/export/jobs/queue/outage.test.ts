import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Database } from '../../../../src/database/database.ts';
import { SqlJobQueue } from '../../../../src/export/jobs/queue/sql-job-queue.ts';
import { POSTGRES_STATEMENTS } from '../../../../src/export/jobs/queue/statements.ts';
import { BUNDLE, jobIdOf, newJob, QUEUED_MAX, reportOf } from '../../../contract/job-queue/jobs.ts';
import { openTestDatabase } from '../../../database/open.ts';
import { HAS_POSTGRES, PostgresServer } from '../../../helpers/postgres.ts';

const HOUR_MS = 3_600_000;
/** SQL that stops the clock of the database. */
const stopClockAt = (ms: number): string =>
  `CREATE OR REPLACE FUNCTION docshelf.clock_us() RETURNS BIGINT LANGUAGE sql VOLATILE AS 'SELECT ${ms * 1000}::bigint'`;

describe.skipIf(!HAS_POSTGRES)('jobs during a database outage longer than a lease', () => {
  const databases: Database[] = [];
  afterEach(async () => {
    for (const database of databases.splice(0)) await database.close();
  });
  const openQueue = (url: string): SqlJobQueue => {
    const database = openTestDatabase(url);
    databases.push(database);
    return new SqlJobQueue({ database, statements: POSTGRES_STATEMENTS });
  };

  it('keep their lease if it is renewed within one lease period after the outage, and can otherwise be claimed again', {
    timeout: 60_000,
  }, async () => {
    const server = await PostgresServer.start();
    const url = await server.createDatabase();
    const [holder, other] = [openQueue(url), openQueue(url)];
    for (const domain of ['alive', 'silent']) await holder.add(newJob(jobIdOf(domain), { domain }), QUEUED_MAX);
    await server.query(stopClockAt(0), url);
    const alive = await holder.claim(HOUR_MS);
    const silent = await holder.claim(HOUR_MS);
    if (alive === null || silent === null) throw new Error('there is nothing to claim');

    await server.stop();
    await expect(other.claim(HOUR_MS)).rejects.toMatchObject({ code: 'database_unavailable' });
    await server.go();
    await server.query(stopClockAt(2 * HOUR_MS), url);

    expect(await other.claim(HOUR_MS)).toBeNull();
    expect(await holder.renew(alive)).toBe('held');
    const claimed = await vi.waitFor(async () => {
      const claim = await other.claim(1);
      if (claim === null) throw new Error('no lease has expired');
      return claim;
    }, 30_000);
    expect(claimed).toMatchObject({ attempt: 2, domain: 'silent' });
    expect(await holder.renew(silent)).toBe('lost');
    expect(await other.claim(1)).toBeNull();
    expect(await holder.complete(alive, BUNDLE, reportOf(alive.jobId))).toBe(true);
  });
});
