import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/database/database.ts';
import { PostgresCounter } from '../../../src/http/limits/postgres-counter.ts';
import { openTestDatabase } from '../../database/open.ts';
import { HAS_POSTGRES, PostgresServer } from '../../helpers/postgres.ts';

const run = promisify(execFile);
const PROCESS = join(import.meta.dirname, 'counting-process.ts');

describe.skipIf(!HAS_POSTGRES)('PostgresCounter (rate limit in a database)', () => {
  let server: PostgresServer;
  let url: string;
  let database: Database;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  beforeEach(async () => {
    url = await server.createDatabase();
    database = openTestDatabase(url);
  });
  afterEach(() => database.close());
  const rowsOf = async (table: string) => server.query(`SELECT * FROM docshelf.${table}`, url);

  it('allows exactly the limit of 1,000 requests if four processes together send more requests', async () => {
    const atOnce = [1, 7, 40, 100];
    const shares = await Promise.all(
      atOnce.map((each) => run(process.execPath, [PROCESS, url, each === 1 ? '100' : '400', String(each)])),
    );
    const allowed = shares.map(({ stdout }) => Number(stdout));
    expect(allowed.reduce((sum, each) => sum + each)).toBe(1_000);
    expect(await rowsOf('request_totals')).toMatchObject([{ taken: '1000' }]);
    const counter = new PostgresCounter(database, { requestsMax: 1_000, windowMs: 3_600_000 });
    expect(await counter.take('acme')).toMatchObject({ isAllowed: false, remaining: 0 });
  });

  it('sends one query for all requests that arrive during a query', async () => {
    const counter = new PostgresCounter(database);
    const verdicts = await Promise.all(Array.from({ length: 500 }, () => counter.take('acme')));
    expect(verdicts.map(({ remaining }) => remaining)).toEqual(verdicts.map((_, at) => 9_999 - at));
    expect(await rowsOf('request_times')).toHaveLength(2);
  });

  it('removes expired request times, also of organizations without new requests', async () => {
    const policy = { requestsMax: 10, windowMs: 1 };
    await new PostgresCounter(database, policy).take('gone');
    const rows = async () => (await rowsOf('request_times')).map(({ organization_id }) => organization_id);
    await expect
      .poll(async () => {
        await new PostgresCounter(database, policy).take('acme');
        return (await rows()).includes('gone');
      })
      .toBe(false);
  });

  it('rejects all waiting requests if the database is unavailable, and resumes when the database is available', async () => {
    const counter = new PostgresCounter(database);
    expect(await counter.take('acme')).toMatchObject({ remaining: 9_999 });
    await server.stop();
    const results = await Promise.allSettled(Array.from({ length: 9 }, () => counter.take('acme')));
    await server.go();
    expect(results.map((result) => result.status === 'rejected' && result.reason.code)).toEqual(
      results.map(() => 'database_unavailable'),
    );
    expect(await counter.take('acme')).toMatchObject({ remaining: 9_998 });
  });
});
