import { LocalCounter } from '../../../src/http/limits/local-counter.ts';
import { PostgresCounter } from '../../../src/http/limits/postgres-counter.ts';
import type { RequestCounter } from '../../../src/http/limits/request-counter.ts';
import type { RatePolicy } from '../../../src/http/limits/sliding-log.ts';
import { openTestDatabase } from '../../database/open.ts';
import { PostgresServer } from '../../helpers/postgres.ts';

/** What the contract asks of a kind of counter: to open one, with a clock that the test turns, and again after a restart. */
export interface CounterSubject {
  readonly counter: RequestCounter;
  /** As a daemon has it that begins now. */
  restarted(): RequestCounter;
  turnTo(nowMs: number): Promise<void>;
  close(): Promise<void>;
}

export type OpenCounter = (policy: RatePolicy) => Promise<CounterSubject>;

export async function localSubject(policy: RatePolicy): Promise<CounterSubject> {
  let nowMs = 0;
  const times = new Map<string, number[]>();
  const store = {
    load: async (organization: string) => [...(times.get(organization) ?? [])],
    append: (organization: string, timeMs: number) => {
      times.set(organization, times.get(organization) ?? []);
      times.get(organization)?.push(timeMs);
    },
  };
  const restarted = () => new LocalCounter(store, { policy, now: () => nowMs });
  return {
    counter: restarted(),
    restarted,
    turnTo: async (next) => {
      nowMs = next;
    },
    close: async () => undefined,
  };
}

/** The clock that the database is asked for stands still until the test turns it. */
const STOP_CLOCK = `
  CREATE TABLE docshelf.test_clock (now_us BIGINT NOT NULL);
  INSERT INTO docshelf.test_clock VALUES (0);
  CREATE OR REPLACE FUNCTION docshelf.clock_us() RETURNS BIGINT LANGUAGE sql VOLATILE AS 'SELECT now_us FROM docshelf.test_clock'`;

/** @returns how to open counters on one server, which ends with the file */
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
