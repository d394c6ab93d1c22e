import { Client } from 'pg';
import type { Database } from '../../../src/database/database.ts';
import { PostgresJobQueue } from '../../../src/export/jobs/postgres/postgres-job-queue.ts';
import type { JobQueue } from '../../../src/export/ports.ts';
import { openTestDatabase } from '../../database/open.ts';
import { PostgresServer } from '../../helpers/postgres.ts';
import { SharedClocks } from './shared-clocks.ts';
import { type OpenSubject, startProcess } from './subject.ts';

const onFault = (error: unknown): void => {
  throw error;
};

/** pg-boss's own clock, which it asks the database for, stands still until the test turns it. */
const STOP_CLOCK = `
  CREATE TABLE docshelf.test_clock (now TIMESTAMPTZ NOT NULL);
  INSERT INTO docshelf.test_clock VALUES (now());
  CREATE OR REPLACE FUNCTION docshelf.job_now() RETURNS TIMESTAMPTZ LANGUAGE sql STABLE AS 'SELECT now FROM docshelf.test_clock'`;

/** Each call is a microsecond later; pg-boss looks anew however short that is. */
const TURN_CLOCK = `
  UPDATE docshelf.test_clock SET now = to_timestamp($1);
  UPDATE docshelf.queue SET monitor_on = NULL, monitor_claim_on = NULL`;

/** A server with a database that others are copies of. */
async function prepare(): Promise<PostgresServer> {
  const server = await PostgresServer.start();
  await server.ask('CREATE DATABASE prepared');
  const database = openTestDatabase(server.url('prepared'));
  const queue = new PostgresJobQueue({ database, onFault });
  await queue.claim(10_000);
  await database.execute(STOP_CLOCK);
  await queue.close();
  await database.close();
  return server;
}

/** @returns how to open queues on one server, which ends with the file */
export function postgresSubject(): OpenSubject {
  let prepared: Promise<PostgresServer> | null = null;
  return async () => {
    prepared ??= prepare();
    const server = await prepared;
    const url = await server.createDatabase('prepared');
    const clocks = new SharedClocks();
    const databases: Database[] = [];
    const queues: JobQueue[] = [];
    const hand = new Client({ connectionString: url });
    await hand.connect();
    let ticks = 0;
    const turn = async (): Promise<void> => {
      ticks += 1;
      const seconds = 1_700_000_000 + clocks.monotonicMs() / 1000 + ticks / 1e6;
      await hand.query(TURN_CLOCK.replace('$1', seconds.toFixed(6)));
    };
    await turn();
    const another = async (): Promise<JobQueue> => {
      const database = openTestDatabase(url);
      databases.push(database);
      const options = { database, onFault, wallMs: () => clocks.wallMs(), expireEveryMs: 0 };
      const queue = new PostgresJobQueue(options);
      queues.push(queue);
      return new Proxy<JobQueue>(queue, {
        get: (target, name: keyof JobQueue) => {
          // A promise asks it for `then`.
          const method = target[name]?.bind(target) as (...args: unknown[]) => unknown;
          // Only what pg-boss has a part in.
          if (!['claim', 'renew', 'advance'].includes(name)) return method;
          return async (...args: unknown[]) => {
            await turn();
            return method(...args);
          };
        },
      });
    };
    return {
      queue: await another(),
      another,
      clocks,
      areLeasesWatched: false,
      start: (role, ...args) => startProcess(url, role, ...args),
      assertSound: async () => {
        const torn = await hand.query(`
          SELECT job_id FROM docshelf.export_jobs AS jobs FULL JOIN docshelf.job AS runs ON runs.id = jobs.run_id AND jobs.status = 'running'
          WHERE (jobs.status = 'running') <> (runs.id IS NOT NULL) OR (jobs.job_id IS NULL)`);
        if (torn.rows.length > 0) throw new Error(`jobs and runs differ: ${JSON.stringify(torn.rows)}`);
      },
      close: async () => {
        for (const queue of queues) await queue.close();
        for (const database of databases) await database.close();
        await hand.end();
      },
    };
  };
}
