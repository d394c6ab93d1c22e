import { vi } from 'vitest';
import { FolderCounter } from '../../../src/http/limits/folder-counter.ts';
import type { RatePolicy, RequestCounter } from '../../../src/http/limits/organization-rates.ts';
import { PostgresCounter } from '../../../src/http/limits/postgres-counter.ts';
import { openTestDatabase } from '../../database/open.ts';
import { newFolder } from '../../helpers/new-folder.ts';
import { PostgresServer } from '../../helpers/postgres.ts';

/** A kind of counter, with a clock that the test sets, and opened again after a restart. */
export interface CounterSubject {
  readonly counter: RequestCounter;
  /** Opens the counter like a new daemon. */
  restarted(): RequestCounter;
  turnTo(nowMs: number): Promise<void>;
  close(): Promise<void>;
}

export type OpenCounter = (policy: RatePolicy) => Promise<CounterSubject>;

export async function folderSubject(policy: RatePolicy): Promise<CounterSubject> {
  const dir = newFolder();
  vi.useFakeTimers({ toFake: ['Date'], now: 0 });
  const opened: FolderCounter[] = [];
  const onFault = (error: unknown): never => {
    throw error;
  };
  const open = () => {
    const counter = new FolderCounter({ dir, onFault, policy });
    opened.push(counter);
    return counter;
  };
  return {
    counter: open(),
    restarted: open,
    turnTo: async (next) => void vi.setSystemTime(next),
    close: async () => {
      vi.useRealTimers();
      for (const counter of opened) counter.close();
    },
  };
}

/** The clock of the database stands still until the test sets it. */
const STOP_CLOCK = `
  CREATE TABLE docshelf.test_clock (now_us BIGINT NOT NULL);
  INSERT INTO docshelf.test_clock VALUES (0);
  CREATE OR REPLACE FUNCTION docshelf.clock_us() RETURNS BIGINT LANGUAGE sql VOLATILE AS 'SELECT now_us FROM docshelf.test_clock'`;

/** @returns a function that opens counters on one server, which ends with the file */
export function postgresSubject(): OpenCounter {
  let started: Promise<PostgresServer> | null = null;
  return async (policy) => {
    started ??= PostgresServer.start();
    const database = openTestDatabase(await (await started).createDatabase());
    await database.execute(STOP_CLOCK);
    return {
      counter: new PostgresCounter(database, policy),
      restarted: () => new PostgresCounter(database, policy),
      turnTo: async (nowMs) => {
        await database.execute('UPDATE docshelf.test_clock SET now_us = $1', [nowMs * 1000]);
      },
      close: () => database.close(),
    };
  };
}
