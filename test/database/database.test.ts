import { join } from 'node:path';
import type { Pool } from 'pg';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../../src/database/database.ts';
import { MIGRATIONS } from '../../src/database/migrations.ts';
import { statement } from '../../src/database/statement.ts';
import { DocshelfError } from '../../src/domain/errors.ts';
import { HAS_POSTGRES, PostgresServer } from '../helpers/postgres.ts';
import { openTestDatabase } from './open.ts';

const TLS = join(import.meta.dirname, '../fixtures/tls');
const COUNT = statement('SELECT count(*)::int AS rows FROM docshelf.notes');
const ADD = statement('INSERT INTO docshelf.notes (text) VALUES (:text)');
const NOTES = 'CREATE TABLE docshelf.notes (text TEXT NOT NULL)';

/** Number of migrations of builds that kept running jobs in pg-boss. */
const WITH_PG_BOSS = 5;

/** Samples of pg-boss 12.35's schema: partitions, a type, functions, and tables that depend on each other. */
const PG_BOSS = `
  CREATE TYPE docshelf.job_state AS ENUM ('created', 'active');
  CREATE TABLE docshelf.version (version INT PRIMARY KEY);
  CREATE TABLE docshelf.queue (name TEXT PRIMARY KEY);
  CREATE TABLE docshelf.schedule (name TEXT REFERENCES docshelf.queue ON DELETE CASCADE);
  CREATE TABLE docshelf.job (id UUID NOT NULL, name TEXT NOT NULL, state docshelf.job_state) PARTITION BY LIST (name);
  CREATE TABLE docshelf.job_common (LIKE docshelf.job INCLUDING ALL);
  ALTER TABLE docshelf.job ATTACH PARTITION docshelf.job_common DEFAULT;
  CREATE TABLE docshelf.queue_stats (at DATE NOT NULL) PARTITION BY RANGE (at);
  CREATE TABLE docshelf.queue_stats_20261127 PARTITION OF docshelf.queue_stats FOR VALUES FROM ('2026-11-27') TO ('2026-11-28');
  CREATE FUNCTION docshelf.job_now() RETURNS TIMESTAMPTZ LANGUAGE sql STABLE AS 'SELECT now()';
  CREATE FUNCTION docshelf.create_queue(name TEXT, options JSONB) RETURNS VOID LANGUAGE sql AS 'SELECT 1';
  INSERT INTO docshelf.job VALUES (gen_random_uuid(), 'exports', 'active')`;

const JOBS = `
  INSERT INTO docshelf.export_jobs (job_id, organization_id, domain, status, created_at_ms, updated_at_ms, is_canceled, place, completion, run_id)
  VALUES ('se_1', 'acme', 'docs', 'completed', 1, 1, false, 0, 7, NULL), ('se_2', 'acme', 'docs', 'running', 1, 1, true, 0, NULL, gen_random_uuid()),
    ('se_3', 'acme', 'blog', 'queued', 1, 1, false, -1, NULL, NULL)`;

const OBJECTS = statement(`
  SELECT relkind::text || ' ' || relname AS name FROM pg_class WHERE relnamespace = 'docshelf'::regnamespace
  UNION ALL SELECT 'function ' || proname FROM pg_proc WHERE pronamespace = 'docshelf'::regnamespace
  UNION ALL SELECT 'type ' || typname FROM pg_type WHERE typnamespace = 'docshelf'::regnamespace ORDER BY name`);

describe.skipIf(!HAS_POSTGRES)('Database', () => {
  let server: PostgresServer;
  const opened: Database[] = [];

  const open = (...args: Parameters<typeof openTestDatabase>): Database => {
    const database = openTestDatabase(...args);
    opened.push(database);
    return database;
  };
  const rowsOf = async (database: Database) => (await database.run<{ rows: number }>(COUNT))[0]?.rows;

  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterEach(async () => {
    for (const database of opened.splice(0)) await database.close();
  });

  it('creates its schema once if several daemons start at the same time', async () => {
    const url = await server.createDatabase();
    const all = Array.from({ length: 4 }, () => open(url, { migrations: [NOTES] }));
    expect(await Promise.all(all.map(rowsOf))).toEqual([0, 0, 0, 0]);
    expect(await server.query('SELECT version FROM docshelf.migrations', url)).toEqual([{ version: 1 }]);
  });

  it('migrates an older schema and keeps its rows', async () => {
    const url = await server.createDatabase();
    await open(url, { migrations: [NOTES] }).run(ADD, { text: 'kept' });
    const newer = open(url, { migrations: [NOTES, 'ALTER TABLE docshelf.notes ADD COLUMN at INTEGER DEFAULT 7'] });
    expect(await newer.run(statement('SELECT text, at FROM docshelf.notes'))).toEqual([{ text: 'kept', at: 7 }]);
  });

  it('migrates a schema with pg-boss, keeps its jobs and removes everything that pg-boss created', async () => {
    const url = await server.createDatabase();
    const former = open(url, { migrations: MIGRATIONS.slice(0, WITH_PG_BOSS) });
    await former.execute(PG_BOSS);
    await former.execute(JOBS);

    const database = open(url);
    const kept = statement(`
      SELECT job_id, status, is_canceled, place, completion::int, holder,
        leased_at_ms BETWEEN 1 AND docshelf.clock_us() / 1000 AS "isLeased" FROM docshelf.export_jobs ORDER BY seq`);
    const same = { holder: null, is_canceled: 0, place: 0, completion: null, isLeased: null };
    expect(await database.run(kept)).toEqual([
      { ...same, job_id: 'se_1', status: 'completed', completion: 7 },
      { ...same, job_id: 'se_2', status: 'running', is_canceled: 1, isLeased: true },
      { ...same, job_id: 'se_3', status: 'queued', place: -1 },
    ]);
    const empty = open(await server.createDatabase());
    expect(await database.run(OBJECTS)).toEqual(await empty.run(OBJECTS));
  });

  it('does not change the schema if a migration fails', async () => {
    const url = await server.createDatabase();
    await expect(open(url, { migrations: [NOTES, 'SELECT nothing'] }).bringUp()).rejects.toThrow('nothing');
    expect(await server.query("SELECT to_regnamespace('docshelf') AS made", url)).toEqual([{ made: null }]);
  });

  it('rejects a schema that is newer than the program, and does not change it', async () => {
    const url = await server.createDatabase();
    await open(url, { migrations: [NOTES, 'SELECT 1'] }).bringUp();
    const newer = {
      code: 'database_unfit',
      message:
        'Cannot use the database: its schema "docshelf" is version 2, but this docshelf supports only versions up to 1',
    };
    await expect(open(url, { migrations: [NOTES] }).bringUp()).rejects.toMatchObject(newer);
    await expect(open(url, { migrations: [NOTES] }).checkSchema()).rejects.toMatchObject(newer);
  });

  it('checks the schema without creating it', async () => {
    const url = await server.createDatabase();
    await open(url).checkSchema();
    expect(await server.query("SELECT to_regnamespace('docshelf') AS made", url)).toEqual([{ made: null }]);
  });

  it('rejects a schema that a newer docshelf has migrated while the database is open', async () => {
    const url = await server.createDatabase();
    const database = open(url, { migrations: [NOTES] });
    await database.run(ADD, { text: 'kept' });
    await server.query('ALTER TABLE docshelf.notes RENAME COLUMN text TO words', url);
    const write = { text: 'lost' };
    await expect(database.run(ADD, write)).rejects.not.toBeInstanceOf(DocshelfError);
    await server.query('INSERT INTO docshelf.migrations VALUES (2)', url);
    const newer = { code: 'database_unfit' };
    await expect(database.run(ADD, write)).rejects.toMatchObject(newer);
    await expect(database.transact((session) => session.run(ADD, write))).rejects.toMatchObject(newer);
  });

  it('needs no right to create a schema if the schema exists', async () => {
    const url = await server.createDatabase();
    await server.query("DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN PASSWORD 'r'", url);
    await server.query('CREATE SCHEMA docshelf AUTHORIZATION reader', url);
    expect(await rowsOf(open(url.replace(/\/\/.*@/, '//reader:r@'), { migrations: [NOTES] }))).toBe(0);
  });

  it('rolls back a transaction if its work throws or its connection breaks', async () => {
    const url = await server.createDatabase();
    const database = open(url, { migrations: [NOTES] });
    const failing = database.transact(async (session) => {
      await session.run(ADD, { text: 'one' });
      throw new RangeError('of the caller');
    });
    await expect(failing).rejects.toThrow(RangeError);
    const cut = database.transact(async (session) => {
      await session.run(ADD, { text: 'two' });
      await server.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'docshelf'`,
        url,
      );
      await session.run(ADD, { text: 'three' });
    });
    await expect(cut).rejects.toMatchObject({ code: 'database_unavailable' });
    expect(await rowsOf(database)).toBe(0);
  });

  it('does not change the errors of failed SQL statements', async () => {
    const database = open(await server.createDatabase(), { migrations: [NOTES] });
    const failing = database.run(statement('SELECT nowhere FROM docshelf.notes'));
    await expect(failing).rejects.not.toBeInstanceOf(DocshelfError);
  });

  it('connects again after an outage, with the current credentials of the URL', async () => {
    const own = await PostgresServer.start();
    let url = await own.createDatabase();
    const right = url;
    const database = open(() => url, { migrations: [NOTES] });
    expect(await rowsOf(database)).toBe(0);
    await own.stop();
    const away = { code: 'database_unavailable', message: expect.stringMatching(/^Cannot use the database: .*\S/) };
    await expect(rowsOf(database)).rejects.toMatchObject(away);
    await expect(database.transact(async () => 1)).rejects.toMatchObject(away);
    await own.go();
    url = right.replace('hidden-word', 'wrong-word');
    await expect(rowsOf(database)).rejects.toMatchObject({ ...away, message: expect.stringContaining('28P01') });
    await expect(rowsOf(database)).rejects.not.toMatchObject({ message: expect.stringContaining('wrong-word') });
    url = right;
    expect(await rowsOf(database)).toBe(0);
  });

  it('creates its schema again if the schema is missing, such as in a new database', async () => {
    const url = await server.createDatabase();
    const database = open(url, { migrations: [NOTES] });
    await database.run(ADD, { text: 'lost' });
    await server.query('DROP SCHEMA docshelf CASCADE', url);
    await expect(rowsOf(database)).rejects.toMatchObject({
      code: 'database_unavailable',
      message: 'Cannot use the database: its schema "docshelf" is missing',
    });
    expect(await rowsOf(database)).toBe(0);
  });

  it('connects only to servers whose host name and address the egress policy allows', async () => {
    const url = await server.createDatabase();
    const refused = {
      code: 'database_unavailable',
      message: expect.stringContaining('is not allowed'),
    };
    const named = { allowedHosts: ['elsewhere.dev'], allowsUnnamed: false };
    await expect(open(url, named).bringUp()).rejects.toMatchObject(refused);
    await expect(open(url, { allowPrivate: false }).bringUp()).rejects.toMatchObject(refused);
    const byName = url.replace('127.0.0.1', 'localhost');
    await expect(open(byName, { allowPrivate: false }).bringUp()).rejects.toMatchObject(refused);
    await expect(open(byName, { ownPorts: [server.port] }).bringUp()).rejects.toMatchObject(refused);
    await open(url, { allowedHosts: [`127.0.0.1:${server.port}`], allowsUnnamed: false }).bringUp();
  });

  it('verifies certificate and host name according to sslmode', async () => {
    const own = await PostgresServer.start();
    const url = await own.createDatabase();
    const [certFile, keyFile] = ['certificate.pem', 'key.pem'].map((name) => join(TLS, name)) as [string, string];
    await expect(open(`${url}?sslmode=require`).bringUp()).rejects.toMatchObject({ code: 'database_unavailable' });
    await own.useTls({ certFile, keyFile });
    const secure = async (mode: string, host: string, caFile: string | null): Promise<unknown> => {
      const database = open(`${url.replace('127.0.0.1', host)}?sslmode=${mode}`, { caFile });
      const ssl = statement('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
      return database.run(ssl).then(
        ([row]) => row,
        (error: DocshelfError) => error.message,
      );
    };
    const isSecure = { ssl: true };
    expect(await secure('require', 'localhost', null)).toEqual(isSecure);
    expect(await secure('verify-ca', 'localhost', null)).toMatch(/self.signed certificate/);
    expect(await secure('verify-ca', '127.0.0.1', certFile)).toEqual(isSecure);
    expect(await secure('verify-full', 'localhost', certFile)).toEqual(isSecure);
    expect(await secure('verify-full', 'localhost', null)).toMatch(/self.signed certificate/);
  });

  it('connects through a Unix socket', async () => {
    const url = await server.createDatabase();
    const named = { allowedHosts: ['elsewhere.dev'], allowsUnnamed: false };
    await open(url.replace('127.0.0.1', encodeURIComponent(server.folder)), named).bringUp();
  });
});

it('Database rejects a server whose version is too old', async () => {
  const rows = [{ number: 140_011, name: '14.11' }];
  const query = async () => ({ rows });
  const client = { query, on: () => client, off: () => client, release: () => undefined };
  const pool = { query, connect: async () => client } as unknown as Pool;
  await expect(new Database(pool).bringUp()).rejects.toMatchObject({
    code: 'database_unfit',
    message: 'Cannot use the database: it is PostgreSQL 14.11, and docshelf needs 15 or newer',
  });
});
