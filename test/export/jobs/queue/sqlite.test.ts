import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { statement } from '../../../../src/database/statement.ts';
import { DocshelfError, toDocshelfError } from '../../../../src/domain/errors.ts';
import { asStoreFault, openDatabase as openWith, SqliteDatabase } from '../../../../src/export/jobs/queue/sqlite.ts';
import { newFolder } from '../../../helpers/new-folder.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = newFolder();
  file = join(folder, 'exports/jobs.sqlite');
});

const INSERT = `INSERT INTO jobs (job_id, organization_id, domain, status, created_at_ms, updated_at_ms) VALUES (?, 'acme', ?, 'running', 0, 0)`;
const COUNT = statement('SELECT count(*) AS jobs FROM jobs');
const ADD = statement(INSERT.replace('?', ':jobId').replace('?', ':domain'));

const openDatabase = (path: string) => openWith(path, { monotonicMs: () => 4711 });

async function codeOf(act: () => unknown): Promise<string> {
  try {
    await act();
    return 'none';
  } catch (error) {
    return toDocshelfError(asStoreFault(file, error)).code;
  }
}

/** Creates a database of version 3, with a completed, a running and a released job. */
function openOlder(): DatabaseSync {
  openDatabase(file).close();
  rmSync(file);
  const older = new DatabaseSync(file);
  older.exec(`
    CREATE TABLE jobs (
      seq INTEGER PRIMARY KEY AUTOINCREMENT, jobId TEXT NOT NULL UNIQUE, organizationId TEXT NOT NULL, domain TEXT NOT NULL, version TEXT,
      status TEXT NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'completed', 'failed')),
      progress REAL NOT NULL DEFAULT 0 CHECK (progress BETWEEN 0 AND 100), pageCount INTEGER NOT NULL DEFAULT 0,
      createdAtMs INTEGER NOT NULL, updatedAtMs INTEGER NOT NULL CHECK (updatedAtMs >= createdAtMs), place INTEGER NOT NULL DEFAULT 0,
      attempt INTEGER NOT NULL DEFAULT 0, heartbeat INTEGER NOT NULL DEFAULT 0, holder TEXT, isCanceled INTEGER NOT NULL DEFAULT 0,
      completion INTEGER, bundleSha256 TEXT, bundleSizeBytes INTEGER, contentSha256 TEXT, error TEXT, paths TEXT, checkpoint TEXT,
      report TEXT, traceparent TEXT, errorCode TEXT, errorNext TEXT
    ) STRICT;
    CREATE TABLE turns (organizationId TEXT PRIMARY KEY, lastClaim INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE INDEX listed ON jobs (organizationId);
    CREATE INDEX listed_by_domain ON jobs (organizationId, domain);
    CREATE INDEX listed_by_status ON jobs (organizationId, status);
    CREATE INDEX listed_by_domain_and_status ON jobs (organizationId, domain, status);
    CREATE INDEX queued ON jobs (domain, place) WHERE status = 'queued';
    CREATE UNIQUE INDEX running ON jobs (domain) WHERE status = 'running';
    CREATE UNIQUE INDEX completed ON jobs (completion) WHERE status = 'completed';
    CREATE INDEX completed_by_domain ON jobs (domain, completion) WHERE status = 'completed';
    CREATE INDEX completed_by_version ON jobs (organizationId, domain, version, completion) WHERE status = 'completed';
    CREATE INDEX ended ON jobs (updatedAtMs) WHERE status IN ('completed', 'failed');
    INSERT INTO jobs (jobId, organizationId, domain, status, createdAtMs, updatedAtMs, place, completion) VALUES
      ('se_1', 'acme', 'docs', 'completed', 1, 1, 0, 7), ('se_2', 'acme', 'docs', 'running', 1, 1, 0, NULL),
      ('se_3', 'acme', 'blog', 'queued', 1, 1, -1, NULL);
    INSERT INTO turns VALUES ('acme', 2)`);
  older.exec('PRAGMA user_version = 3');
  return older;
}

describe('openDatabase() of the embedded job queue', () => {
  test('opens a new or existing file in WAL mode with a flush at each commit, and creates its folder', () => {
    for (const _time of [1, 2]) {
      const database = openDatabase(file);
      const pragmas = database.prepare('SELECT * FROM pragma_journal_mode, pragma_synchronous').get();
      expect(pragmas).toEqual({ journal_mode: 'wal', synchronous: 2 });
      expect(database.prepare('SELECT count(*) AS jobs FROM jobs').get()).toEqual({ jobs: 0 });
      database.close();
    }
  });

  test('migrates a file of version 3, and keeps its jobs', () => {
    openOlder().close();
    const database = openDatabase(file);
    const columns = 'job_id, status, place, completion, error_code, traceparent, leased_at_ms';
    const jobs = database.prepare(`SELECT ${columns} FROM jobs ORDER BY seq`).all();
    expect(jobs.map((job) => Object.values(job))).toEqual([
      ['se_1', 'completed', 0, 7, null, null, null],
      ['se_2', 'running', 0, null, null, null, 4711],
      ['se_3', 'queued', -1, null, null, null, null],
    ]);
    expect(database.prepare('SELECT organization_id, last_claim FROM turns').all()).toEqual([
      { organization_id: 'acme', last_claim: 2 },
    ]);
    const made = openWith(join(folder, 'made.sqlite'), { monotonicMs: () => 0 });
    const shape = "SELECT name FROM sqlite_schema UNION SELECT name FROM pragma_table_info('jobs') ORDER BY name";
    expect(database.prepare(shape).all()).toEqual(made.prepare(shape).all());
    expect(database.prepare('PRAGMA user_version').get()).toEqual(made.prepare('PRAGMA user_version').get());
    for (const each of [database, made]) each.close();
  });

  test('rejects the file of a newer docshelf, and does not change it', async () => {
    const newer = openDatabase(file);
    newer.exec('PRAGMA user_version = 99');
    newer.close();
    expect(await codeOf(() => openDatabase(file))).toBe('data_folder_newer');
    const after = new DatabaseSync(file);
    expect(after.prepare('PRAGMA user_version').get()).toEqual({ user_version: 99 });
    after.close();
  });

  test('allows one running job per domain', () => {
    const database = openDatabase(file);
    database.prepare(INSERT).run('se_1', 'docs');
    expect(() => database.prepare(INSERT).run('se_2', 'docs')).toThrow(/UNIQUE/);
    database.close();
  });
});

describe('SqliteDatabase (database file of the embedded job queue)', () => {
  const open = () => new SqliteDatabase(openDatabase(file));

  test('rolls back a transaction if one of its statements fails', async () => {
    const database = open();
    const fault = new Error('enough');
    const failing = database.transact(async (session) => {
      await session.run(ADD, { jobId: 'se_1', domain: 'docs' });
      throw fault;
    });
    await expect(failing).rejects.toThrow(fault);
    expect(await database.run(COUNT)).toEqual([{ jobs: 0 }]);
    expect(await database.transact(async () => 'next')).toBe('next');
    database.close();
  });

  test('runs one transaction at a time, and a single statement only after the transactions that waited before it', async () => {
    const database = open();
    const seen: string[] = [];
    const adding = database.transact(async (session) => {
      await session.run(ADD, { jobId: 'se_1', domain: 'docs' });
      for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
      seen.push('added');
    });
    const next = database.transact(async () => void seen.push('next'));
    const counted = database.run(COUNT).then(() => seen.push('counted'));
    await Promise.all([adding, next, counted]);
    expect(seen).toEqual(['added', 'next', 'counted']);
    database.close();
  });

  test('retries while another process writes, and stops after some seconds', async () => {
    const holder = openDatabase(file);
    const other = open();
    holder.exec('BEGIN IMMEDIATE');
    const nowMs = vi.spyOn(performance, 'now');
    let looks = 0;
    nowMs.mockImplementation(() => {
      looks += 1;
      return looks * 1000;
    });
    expect(await codeOf(() => other.transact(async () => 'done'))).toBe('busy');
    expect(looks).toBe(7);
    holder.exec('COMMIT');
    expect(await other.transact(async () => 'done')).toBe('done');
    nowMs.mockRestore();
    for (const each of [holder, other]) each.close();
  });

  test('does not retry a statement that fails for another reason than a lock', async () => {
    const database = open();
    const nowMs = vi.spyOn(performance, 'now');
    await expect(database.run(statement('SELECT 1 FROM nowhere'))).rejects.toThrow('no such table');
    expect(nowMs).toHaveBeenCalledTimes(1);
    nowMs.mockRestore();
    database.close();
  });
});

describe('asStoreFault() (error codes for SQLite errors)', () => {
  test('maps a full disk to cannot_write, and the next write succeeds if there is space again', async () => {
    const database = openDatabase(file);
    database.exec('PRAGMA max_page_count = 1');
    const fill = () => database.prepare(INSERT).run('x'.repeat(100_000), 'docs');
    expect(await codeOf(fill)).toBe('cannot_write');
    database.exec('PRAGMA max_page_count = 1000');
    expect(await codeOf(fill)).toBe('none');
    database.close();
  });

  test('maps a folder that cannot be created and a read-only file to cannot_write', async () => {
    writeFileSync(join(folder, 'exports'), 'a file');
    expect(await codeOf(() => new DatabaseSync(file))).toBe('cannot_write');
    rmSync(join(folder, 'exports'));
    openDatabase(file).close();
    const readOnly = new DatabaseSync(file, { readOnly: true });
    expect(await codeOf(() => readOnly.prepare(INSERT).run('se_1', 'docs'))).toBe('cannot_write');
    readOnly.close();
  });

  test('maps a file that is not a database to cannot_read', async () => {
    openDatabase(file).close();
    writeFileSync(file, 'x'.repeat(10_000));
    expect(await codeOf(() => openDatabase(file))).toBe('cannot_read');
  });

  test('returns an error that does not come from SQLite unchanged', () => {
    const errors = [new Error('a bug'), new DocshelfError('queue_full', 'Cannot queue'), null];
    for (const error of errors) expect(asStoreFault(file, error)).toBe(error);
  });
});
