import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DocshelfError } from '../../../domain/errors.ts';
import { refuseLink } from '../../../files/index.ts';

/** A call's wait for other processes. A transaction takes as long as the disk's flush, some milliseconds. */
const BUSY_MS_MAX = 5000;

/**
 * SQLite's own wait. It sleeps up to 100 ms between its tries: begun anew every few milliseconds, p99 beside a process that
 * writes without a pause fell from 230 ms to 20 to 80 ms.
 */
const BUSY_SPELL_MS = 4;
const BUSY_PAUSE_MS = 1;

/** Primary result codes of SQLite (sqlite.org/rescode.html). */
const [BUSY, LOCKED, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, NOTADB] = [5, 6, 8, 10, 11, 13, 14, 26];

/**
 * Every commit is flushed to the disk.
 * @throws DocshelfError `data_folder_newer`, `cannot_write` for a symbolic link; errors of SQLite and of the file system
 */
export function openDatabase(file: string): DatabaseSync {
  mkdirSync(dirname(file), { recursive: true });
  refuseLink(file);
  const database = new DatabaseSync(file, { timeout: BUSY_SPELL_MS });
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    transact(database, () => bringUp(database, file));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Repeats `act` for some seconds where another process keeps the file locked. What it began must be undone by then. */
export function patiently<T>(act: () => T): T {
  const endMs = performance.now() + BUSY_MS_MAX;
  for (;;) {
    try {
      return act();
    } catch (error) {
      if (resultCodeOf(error) !== BUSY || performance.now() > endMs) throw error;
      // SQLite answers some conflicts at once, such as two processes that make the file.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_PAUSE_MS);
    }
  }
}

export function transact<T>(database: DatabaseSync, act: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = act();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // Where the disk failed SQLite has ended the transaction.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

export function asStoreFault(file: string, error: unknown): unknown {
  const fault = (code: 'busy' | 'cannot_write' | 'cannot_read', state: string, next: string) =>
    new DocshelfError(code, `Cannot use the job store "${file}": ${state}`, { next, cause: error });
  switch (resultCodeOf(error)) {
    case BUSY:
    case LOCKED:
      return fault('busy', 'another process keeps it locked', 'Try again in a moment.');
    case FULL:
      return fault('cannot_write', 'the disk is full', 'Free space on the volume of storage.dir, and try again.');
    case READONLY:
    case CANTOPEN:
    case IOERR:
      return fault(
        'cannot_write',
        (error as Error).message,
        'Make the folder exports in the data folder writable for the user that docshelf runs as, and check its disk.',
      );
    case CORRUPT:
    case NOTADB:
      return fault(
        'cannot_read',
        (error as Error).message,
        'Put back a copy of it, or move it away with its -wal and -shm: docshelf begins with an empty one.',
      );
    default:
      return error;
  }
}

function bringUp(database: DatabaseSync, file: string): void {
  const { version } = database.prepare('SELECT user_version AS version FROM pragma_user_version').get() as {
    version: number;
  };
  if (version > FORMAT_VERSION) {
    throw new DocshelfError(
      'data_folder_newer',
      `Cannot open the job store "${file}": its format is version ${version}, this docshelf knows up to ${FORMAT_VERSION}`,
      { next: 'Run the docshelf version that wrote this data folder, or a newer one.' },
    );
  }
  if (version === 0) database.exec(SCHEMA);
  if (version === 1) database.exec('ALTER TABLE jobs ADD COLUMN traceparent TEXT');
  if (version === 1 || version === 2)
    database.exec('ALTER TABLE jobs ADD COLUMN errorCode TEXT; ALTER TABLE jobs ADD COLUMN errorNext TEXT');
  if (version < FORMAT_VERSION) database.exec(`PRAGMA user_version = ${FORMAT_VERSION}`);
}

function resultCodeOf(error: unknown): number | undefined {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  // The upper bytes are those of extended codes.
  return code === 'ERR_SQLITE_ERROR' && typeof errcode === 'number' ? errcode & 0xff : undefined;
}

/** Rises with every change to the tables. */
export const FORMAT_VERSION = 3;

/**
 * - `jobs`: `seq` is the order of arrival, never used again. `place` is 0, and below it for a job that was given back.
 *   `completion` is the order of completion. `heartbeat` rises with each sign of life of `holder` (JSON, `Holder`).
 *   `traceparent` is of the call that the job was queued by. `error` is without `errorNext`, the advice. Long columns stand last: those before are read without them.
 * - `turns`: the number of each organization's last claim.
 *
 * An index keeps a domain to one running job. Ended jobs have indexes of their own: 100,000 make no difference to a claim.
 */
export const SCHEMA = `
  CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    jobId TEXT NOT NULL UNIQUE,
    organizationId TEXT NOT NULL,
    domain TEXT NOT NULL,
    version TEXT,
    status TEXT NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'completed', 'failed')),
    progress REAL NOT NULL DEFAULT 0 CHECK (progress BETWEEN 0 AND 100),
    pageCount INTEGER NOT NULL DEFAULT 0,
    createdAtMs INTEGER NOT NULL,
    updatedAtMs INTEGER NOT NULL CHECK (updatedAtMs >= createdAtMs),
    place INTEGER NOT NULL DEFAULT 0,
    attempt INTEGER NOT NULL DEFAULT 0,
    heartbeat INTEGER NOT NULL DEFAULT 0,
    holder TEXT,
    isCanceled INTEGER NOT NULL DEFAULT 0,
    completion INTEGER,
    bundleSha256 TEXT,
    bundleSizeBytes INTEGER,
    contentSha256 TEXT,
    error TEXT,
    paths TEXT,
    checkpoint TEXT,
    report TEXT,
    traceparent TEXT,
    errorCode TEXT,
    errorNext TEXT
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
`;
