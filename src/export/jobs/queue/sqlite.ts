import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { Statement, StatementValues } from '../../../database/statement.ts';
import { DocshelfError } from '../../../domain/errors.ts';
import { refuseLink } from '../../../files/index.ts';
import { HEAPS, serve, Thread, threadEntry } from '../../../threads/index.ts';
import { Scheduler } from '../../../threads/scheduler.ts';
import { type JobDatabase, type JobQueue, SqlJobQueue } from './sql-job-queue.ts';
import { SQLITE_STATEMENTS } from './statements.ts';

/** Maximum pending calls of clients, which the disk can flush in a few seconds. Calls for running jobs are never rejected. */
const WAITING_MAX = 1000;
const OF_CLIENTS = ['add', 'get', 'list', 'cancel', 'report', 'revision'] as const;
const OF_HOLDERS = [
  'claim',
  'renew',
  'advance',
  'complete',
  'fail',
  'release',
  'lastCompleted',
  'counts',
  'prune',
  'references',
] as const;

/**
 * Maximum time to wait for the end of the queue's thread. Longer than BUSY_MS_MAX, for which a call of the thread can wait for a
 * lock.
 */
const ENDING_MS_MAX = 10_000;

/**
 * Starts the thread of the job queue.
 * @throws DocshelfError `data_folder_newer`, `cannot_write`, `cannot_read`, `busy`; all calls of the queue can throw them too
 */
export async function openSqliteJobQueue(
  queueFile: QueueFile,
  entry = threadEntry('./worker', import.meta),
): Promise<JobQueue> {
  const thread = new Thread<QueueCalls>({
    task: 'ask for jobs',
    heap: HEAPS.queue,
    entry,
    data: queueFile,
    callsMax: WAITING_MAX,
  });
  const calls = (methods: readonly (keyof JobQueue)[], isUrgent: boolean) =>
    methods.map((method) => [
      method,
      (...args: readonly unknown[]) => thread.call('ask', { method, args }, { isUrgent }),
    ]);
  const methods = Object.fromEntries([...calls(OF_CLIENTS, false), ...calls(OF_HOLDERS, true)]);
  const queue: JobQueue = { ...methods, close: () => thread.end({ withinMs: ENDING_MS_MAX }) };
  try {
    await queue.counts();
    return queue;
  } catch (error) {
    await queue.close();
    throw error;
  }
}

export type QueueFile = { readonly file: string };

type QueueCalls = { ask(call: { readonly method: keyof JobQueue; readonly args: readonly unknown[] }): unknown };

/** Clocks in ms: `wallMs` can jump. `monotonicMs` only runs forward, and is the same for all processes of the machine. */
type Clocks = { wallMs(): number; monotonicMs(): number };

export function serveQueue({ file }: QueueFile, clocks: Clocks): void {
  let database: SqliteDatabase | null = null;
  let queue: JobQueue | null = null;
  const ask: QueueCalls['ask'] = async ({ method, args }) => {
    try {
      database ??= new SqliteDatabase(patiently(() => openDatabase(file, clocks)));
      queue ??= new SqlJobQueue({ database, statements: SQLITE_STATEMENTS, wallMs: () => clocks.wallMs() });
      return await (queue[method] as (...args: readonly unknown[]) => unknown).apply(queue, [...args]);
    } catch (error) {
      // If a newer daemon has migrated the database, statements of this daemon can fail. Report `data_folder_newer` in this case.
      if (resultCodeOf(error) === ERROR) database?.checkVersion(file);
      throw asStoreFault(file, error);
    }
  };
  serve({ ask } satisfies QueueCalls, () => database?.close());
}

/** Maximum wait for the lock of another process, whose transactions take only some milliseconds. */
const BUSY_MS_MAX = 5000;

/**
 * Maximum wait for a lock in one call of SQLite. docshelf then retries the call, because SQLite sleeps up to 100 ms between its
 * own attempts.
 */
const BUSY_SPELL_MS = 4;
const BUSY_PAUSE_MS = 1;

/** Primary result codes of SQLite (sqlite.org/rescode.html). */
const [ERROR, BUSY, LOCKED, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, NOTADB] = [1, 5, 6, 8, 10, 11, 13, 14, 26];

export class SqliteDatabase implements JobDatabase {
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<Statement, StatementSync>();
  readonly #turns = new Scheduler(1);

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  run<Row>(statement: Statement, values?: StatementValues): Promise<readonly Row[]> {
    return this.#turns.run(async () => patiently(() => this.#rows<Row>(statement, values)));
  }

  transact<T>(act: (session: Pick<JobDatabase, 'run'>) => Promise<T>): Promise<T> {
    return this.#turns.run(async () => {
      patiently(() => this.#database.exec('BEGIN IMMEDIATE'));
      try {
        const result = await act({ run: async (...asked) => this.#rows(...asked) });
        this.#database.exec('COMMIT');
        return result;
      } catch (error) {
        if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
        throw error;
      }
    });
  }

  /** @throws DocshelfError `data_folder_newer` if a newer docshelf has written the file */
  checkVersion(file: string): void {
    knownVersion(this.#database, file);
  }

  close(): void {
    this.#database.close();
  }

  #rows<Row>(statement: Statement, values: StatementValues = {}): readonly Row[] {
    const prepared = this.#prepared.get(statement) ?? this.#database.prepare(statement.text);
    this.#prepared.set(statement, prepared);
    return prepared.all(
      Object.fromEntries(statement.names.map((name, at) => [`$${at + 1}`, (values[name] ?? null) as string | null])),
    ) as Row[];
  }
}

/**
 * Opens or creates the database of jobs. @throws DocshelfError `data_folder_newer` if a newer docshelf wrote the file, `cannot_write`
 * if it is a symbolic link; errors of SQLite and the file system
 */
export function openDatabase(file: string, clocks: Pick<Clocks, 'monotonicMs'>): DatabaseSync {
  mkdirSync(dirname(file), { recursive: true });
  refuseLink(file);
  const database = new DatabaseSync(file, { timeout: BUSY_SPELL_MS });
  try {
    database.function('clock_ms', () => clocks.monotonicMs());
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    bringUp(database, file);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Checks the format of an existing database, and leaves its folder unchanged. @throws DocshelfError as `openSqliteJobQueue` */
export function checkDatabase(file: string): void {
  const url = pathToFileURL(file);
  // If the `-wal` file is missing, use `immutable`: SQLite would otherwise create this file, and other users could not write to it.
  if (!existsSync(`${file}-wal`)) url.searchParams.set('immutable', '1');
  try {
    const database = new DatabaseSync(url, { readOnly: true });
    try {
      knownVersion(database, file);
    } finally {
      database.close();
    }
  } catch (error) {
    throw asStoreFault(file, error);
  }
}

export function patiently<T>(act: () => T): T {
  const endMs = performance.now() + BUSY_MS_MAX;
  for (;;) {
    try {
      return act();
    } catch (error) {
      if (resultCodeOf(error) !== BUSY || performance.now() > endMs) throw error;
      // Pause before a retry. SQLite reports some lock conflicts at once, for example if two processes create the database.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_PAUSE_MS);
    }
  }
}

export function asStoreFault(file: string, error: unknown): unknown {
  const fault = (code: 'busy' | 'cannot_write' | 'cannot_read', state: string, next: string) =>
    new DocshelfError(code, `Cannot use the job store "${file}": ${state}`, { next, cause: error });
  switch (resultCodeOf(error)) {
    case BUSY:
    case LOCKED:
      return fault('busy', 'another process has locked it', 'Try again in a moment.');
    case FULL:
      return fault('cannot_write', 'the disk is full', 'Free space on the volume of storage.dir, then try again.');
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
        'Restore the file from a backup. To start with an empty job store, move the file away with its -wal and -shm files.',
      );
    default:
      return error;
  }
}

/** @throws DocshelfError `data_folder_newer` if a newer docshelf has written the file */
function knownVersion(database: DatabaseSync, file: string): number {
  const { version } = database.prepare('SELECT user_version AS version FROM pragma_user_version').get() as {
    version: number;
  };
  if (version > FORMAT_VERSION) {
    throw new DocshelfError(
      'data_folder_newer',
      `Cannot open the job store "${file}": its format is version ${version}, but this docshelf supports only versions up to ${FORMAT_VERSION}`,
      { next: 'Run the docshelf version that wrote this data folder, or a newer one.' },
    );
  }
  return version;
}

function bringUp(database: DatabaseSync, file: string): void {
  database.exec('BEGIN IMMEDIATE');
  const version = knownVersion(database, file);
  if (version === 3) moveToSharedStatements(database);
  if (version === 0) database.exec(TABLES);
  if (version < FORMAT_VERSION) database.exec(`${INDEXES}; PRAGMA user_version = ${FORMAT_VERSION}`);
  database.exec('COMMIT');
}

function moveToSharedStatements(database: DatabaseSync): void {
  const indexes = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL").all();
  for (const { name } of indexes) database.exec(`DROP INDEX ${name}`);
  for (const table of ['jobs', 'turns']) {
    for (const { name } of database.prepare('SELECT name FROM pragma_table_info(?)').all(table)) {
      const renamed = String(name).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      if (renamed !== name) database.exec(`ALTER TABLE ${table} RENAME COLUMN ${name} TO ${renamed}`);
    }
  }
  database.exec(`
    ALTER TABLE jobs DROP COLUMN heartbeat;
    ALTER TABLE jobs ADD COLUMN leased_at_ms INTEGER;
    UPDATE jobs SET leased_at_ms = clock_ms() WHERE status = 'running'`);
}

function resultCodeOf(error: unknown): number | undefined {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  // Keep only the primary result code, because extended codes use the upper bytes.
  return code === 'ERR_SQLITE_ERROR' && typeof errcode === 'number' ? errcode & 0xff : undefined;
}

const FORMAT_VERSION = 4;

const TABLES = `
  CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id TEXT NOT NULL UNIQUE,
    organization_id TEXT NOT NULL,
    domain TEXT NOT NULL,
    version TEXT,
    status TEXT NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'completed', 'failed')),
    progress REAL NOT NULL DEFAULT 0 CHECK (progress BETWEEN 0 AND 100),
    page_count INTEGER NOT NULL DEFAULT 0,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL CHECK (updated_at_ms >= created_at_ms),
    place INTEGER NOT NULL DEFAULT 0,
    attempt INTEGER NOT NULL DEFAULT 0,
    leased_at_ms INTEGER,
    holder TEXT,
    is_canceled INTEGER NOT NULL DEFAULT 0,
    completion INTEGER,
    bundle_sha256 TEXT,
    bundle_size_bytes INTEGER,
    content_sha256 TEXT,
    error TEXT,
    paths TEXT,
    checkpoint TEXT,
    report TEXT,
    traceparent TEXT,
    error_code TEXT,
    error_next TEXT
  ) STRICT;
  CREATE TABLE turns (organization_id TEXT PRIMARY KEY, last_claim INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`;

/** Indexes of jobs. `running` allows one running job per domain. Partial indexes keep claims fast with 100,000 ended jobs. */
const INDEXES = `
  CREATE INDEX listed ON jobs (organization_id);
  CREATE INDEX listed_by_domain ON jobs (organization_id, domain);
  CREATE INDEX listed_by_status ON jobs (organization_id, status);
  CREATE INDEX listed_by_domain_and_status ON jobs (organization_id, domain, status);
  CREATE INDEX queued ON jobs (domain, place) WHERE status = 'queued';
  CREATE UNIQUE INDEX running ON jobs (domain) WHERE status = 'running';
  CREATE INDEX completed ON jobs (domain, completion) WHERE status = 'completed';
  CREATE INDEX completed_by_version ON jobs (organization_id, domain, version, completion) WHERE status = 'completed';
  CREATE INDEX ended ON jobs (updated_at_ms) WHERE status IN ('completed', 'failed');
`;
