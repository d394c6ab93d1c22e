import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DocshelfError } from '../../domain/errors.ts';
import { FORMAT_VERSION, SCHEMA } from './schema.ts';

/** How long a call waits for other processes. A transaction takes as long as the disk's flush, some milliseconds. */
const BUSY_MS_MAX = 5000;

/**
 * How long SQLite itself waits. It sleeps 1 ms, 2 ms, … up to 100 ms between its tries, so that whoever waits comes too late
 * time and again: begun anew every few milliseconds, p99 beside a process that writes without a pause fell from 230 ms to
 * 20 to 80 ms.
 */
const BUSY_SPELL_MS = 4;
const BUSY_PAUSE_MS = 1;

/** Primary result codes of SQLite (sqlite.org/rescode.html). */
const [BUSY, LOCKED, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, NOTADB] = [5, 6, 8, 10, 11, 13, 14, 26];

/**
 * Opens the file of the job store, and makes it where there is none. Every commit is flushed to the disk.
 *
 * @throws DocshelfError `data_folder_newer`; errors of SQLite and of the file system as they are
 */
export function openDatabase(file: string): DatabaseSync {
  mkdirSync(dirname(file), { recursive: true });
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

/** Calls `act`, and again where another process keeps the file locked, for some seconds. What it began must be undone by then. */
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

/** Runs `act` with the file locked for writing: it holds whole, and on the disk, or not at all. */
export function transact<T>(database: DatabaseSync, act: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = act();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // SQLite has ended the transaction by itself where the disk failed.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** An error of SQLite as a fault with a code that an operator can act on; any other error as it is. */
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
  if (version === 0) database.exec(`${SCHEMA} PRAGMA user_version = ${FORMAT_VERSION};`);
}

function resultCodeOf(error: unknown): number | undefined {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  // The upper bytes of an extended code say more than is needed here.
  return code === 'ERR_SQLITE_ERROR' && typeof errcode === 'number' ? errcode & 0xff : undefined;
}
