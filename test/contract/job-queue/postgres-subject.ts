import { Client } from 'pg';
import type { Database } from '../../../src/database/database.ts';
import { type JobQueue, SqlJobQueue } from '../../../src/export/jobs/queue/sql-job-queue.ts';
import { POSTGRES_STATEMENTS } from '../../../src/export/jobs/queue/statements.ts';
import { openTestDatabase } from '../../database/open.ts';
import { PostgresServer } from '../../helpers/postgres.ts';
import { SharedClocks } from './shared-clocks.ts';
import { type OpenSubject, startProcess } from './subject.ts';

/** The clock of the database stands still until the test sets it. */
const STOP_CLOCK = `
  CREATE TABLE docshelf.test_clock (now_us BIGINT NOT NULL);
  INSERT INTO docshelf.test_clock VALUES (0);
  CREATE OR REPLACE FUNCTION docshelf.clock_us() RETURNS BIGINT LANGUAGE sql VOLATILE AS 'SELECT now_us FROM docshelf.test_clock'`;

/** Starts a server with a template database for copies. */
async function prepare(): Promise<PostgresServer> {
  const server = await PostgresServer.start();
  await server.query('CREATE DATABASE prepared');
  const database = openTestDatabase(server.url('prepared'));
  await database.execute(STOP_CLOCK);
  await database.close();
  return server;
}

/** @returns a function that opens queues on one server, which ends with the file */
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
    const another = async (): Promise<JobQueue> => {
      const database = openTestDatabase(url);
      databases.push(database);
      const options = { database, statements: POSTGRES_STATEMENTS, wallMs: () => clocks.wallMs() };
      const queue = new SqlJobQueue(options);
      queues.push(queue);
      return new Proxy<JobQueue>(queue, {
        get: (target, name: keyof JobQueue) => {
          // A promise reads `then`, which is no method.
          const method = target[name]?.bind(target) as (...args: unknown[]) => unknown;
          // Only these methods read the clock.
          if (!['claim', 'renew', 'advance'].includes(name)) return method;
          return async (...args: unknown[]) => {
            await hand.query('UPDATE docshelf.test_clock SET now_us = $1', [clocks.monotonicMs() * 1000]);
            return method(...args);
          };
        },
      });
    };
    return {
      queue: await another(),
      another,
      clocks,
      start: (role, ...args) => startProcess(url, role, ...args),
      assertSound: async () => {
        const torn = await hand.query(
          `SELECT job_id FROM docshelf.export_jobs WHERE status <> 'running' AND holder IS NOT NULL`,
        );
        if (torn.rows.length > 0) throw new Error(`jobs that do not run are held: ${JSON.stringify(torn.rows)}`);
      },
      close: async () => {
        for (const queue of queues) await queue.close();
        for (const database of databases) await database.close();
        await hand.end();
      },
    };
  };
}
