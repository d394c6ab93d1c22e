import type { Pool, PoolClient } from 'pg';
import { DocshelfError } from '../domain/errors.ts';
import { once } from '../threads/once.ts';
import { MIGRATIONS } from './migrations.ts';
import { SCHEMA_NAME, type Statement, type StatementValues } from './statement.ts';

export interface Session {
  /** @throws DocshelfError `database_unavailable`; the error of the driver if the statement has a bug */
  run<Row>(statement: Statement, values?: StatementValues): Promise<readonly Row[]>;
  execute(text: string, values?: readonly unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

export class Database implements Session {
  readonly #pool: Pool;
  readonly #session: Session;
  readonly #migrations: readonly string[];
  #migrateOnce = once(() => this.#migrate());
  readonly bringUp = (): Promise<void> => this.#migrateOnce();

  constructor(pool: Pool, migrations: readonly string[] = MIGRATIONS) {
    this.#pool = pool;
    this.#session = sessionOf(pool);
    this.#migrations = migrations;
  }

  /**
   * Checks the connection and the server version, and changes nothing. @throws DocshelfError `database_unavailable`,
   * `database_unfit`
   */
  async check(): Promise<void> {
    await checkServer(this.#session);
  }

  /** Calls `check()`, and checks the version of the schema. @throws DocshelfError as `check` */
  async checkSchema(): Promise<void> {
    await this.check();
    const { rows } = await this.#session.execute(`SELECT to_regclass('${SCHEMA_NAME}.migrations') AS migrations`);
    if (rows[0]?.migrations !== null) await this.#knownVersion(this.#session);
  }

  async run<Row>(statement: Statement, values?: StatementValues): Promise<readonly Row[]> {
    await this.bringUp();
    return this.#session.run<Row>(statement, values).catch((error) => this.#explain(error));
  }

  async execute(text: string, values?: readonly unknown[]): ReturnType<Session['execute']> {
    await this.bringUp();
    return this.#session.execute(text, values).catch((error) => this.#explain(error));
  }

  /** Rolls back if `act` throws. If COMMIT fails, it is unknown whether the database has committed the transaction. */
  async transact<T>(act: (session: Session) => Promise<T>): Promise<T> {
    await this.bringUp();
    return this.#transact(act).catch((error) => this.#explain(error));
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  /** Explains an unknown column or table: the schema is newer, or it is missing, in which case the next call creates it. */
  async #explain(error: unknown): Promise<never> {
    if (sqlStateOf(error)?.startsWith('42') !== true) throw error;
    await this.#knownVersion(this.#session).catch((fault: unknown) => {
      if (sqlStateOf(fault) !== UNDEFINED_TABLE) throw fault;
      this.#migrateOnce = once(() => this.#migrate());
      throw unavailable(`its schema "${SCHEMA_NAME}" is missing`, error);
    });
    throw error;
  }

  /** @throws DocshelfError `database_unfit` if a newer docshelf has migrated the schema */
  async #knownVersion(session: Session): Promise<number> {
    const { rows } = await session.execute(`SELECT max(version) AS version FROM ${SCHEMA_NAME}.migrations`);
    const version = Number(rows[0]?.version ?? 0);
    const known = this.#migrations.length;
    if (version <= known) return version;
    throw unfit(
      `its schema "${SCHEMA_NAME}" is version ${version}, but this docshelf supports only versions up to ${known}`,
      'Run the docshelf version that the other replicas run, or a newer one.',
    );
  }

  async #transact<T>(act: (session: Session) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw asDatabaseFault(error);
    });
    const ignore = (): void => undefined;
    client.on('error', ignore);
    let isSound = false;
    try {
      const session = sessionOf(client);
      await session.execute(BEGIN);
      const result = await act(session);
      await session.execute('COMMIT');
      isSound = true;
      return result;
    } catch (error) {
      isSound = await client.query('ROLLBACK').then(
        () => true,
        () => false,
      );
      throw error;
    } finally {
      client.off('error', ignore);
      client.release(!isSound);
    }
  }

  async #migrate(): Promise<void> {
    await this.#transact(async (session) => {
      await checkServer(session);
      await session.execute('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
      const { rows: found } = await session.execute('SELECT to_regnamespace($1) AS schema', [SCHEMA_NAME]);
      // Create the schema only if it is missing. If the operator has created it, docshelf needs no right to create schemas.
      if (found[0]?.schema === null) await session.execute(`CREATE SCHEMA ${SCHEMA_NAME}`);
      await session.execute(`CREATE TABLE IF NOT EXISTS ${SCHEMA_NAME}.migrations (version INTEGER PRIMARY KEY)`);
      const version = await this.#knownVersion(session);
      for (const [index, step] of this.#migrations.entries()) {
        if (index < version) continue;
        await session.execute(step);
        await session.execute(`INSERT INTO ${SCHEMA_NAME}.migrations VALUES ($1)`, [index + 1]);
      }
    });
  }
}

/** PostgreSQL 15 is the oldest version with security fixes (until November 2027). */
const SERVER_VERSION_MIN = 150_000;
const MIGRATION_LOCK = 0x646f6373;

/** Ends a transaction after 15 s without a statement, such as after a network failure, and a wait for a lock after 10 s. */
const BEGIN = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = '15s'; SET LOCAL lock_timeout = '10s'`;

async function checkServer(session: Session): Promise<void> {
  const { rows } = await session.execute(
    "SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS name",
  );
  const { number, name } = rows[0] as { readonly number: number; readonly name: string };
  if (number >= SERVER_VERSION_MIN) return;
  throw unfit(
    `it is PostgreSQL ${name}, and docshelf needs 15 or newer`,
    'Move the database to a newer PostgreSQL server.',
  );
}

const unfit = (state: string, next: string): DocshelfError =>
  new DocshelfError('database_unfit', `Cannot use the database: ${state}`, { next });

function sessionOf(asked: Pick<Pool | PoolClient, 'query'>): Session {
  const execute: Session['execute'] = async (text, values) => {
    try {
      const given = await (values === undefined ? asked.query(text) : asked.query(text, [...values]));
      return { rows: [given].flat().flatMap(({ rows }) => rows) };
    } catch (error) {
      throw asDatabaseFault(error);
    }
  };
  const run: Session['run'] = async <Row>({ text, names }: Statement, values: StatementValues = {}) => {
    const numbered = names.map((name) => values[name] ?? null);
    return (await execute(text, numbered)).rows as Row[];
  };
  return { execute, run };
}

/** SQLSTATE classes that only a bug of docshelf causes, such as syntax or constraint errors (PostgreSQL manual, appendix A). */
const BUG_CLASSES = /^(?:0[ABDFLPZ]|2[0-7BDF]|3[48]|42|44|P0)/;
/** SQLSTATE codes that BUG_CLASSES matches, but an operator can fix: a missing right to a table, and a read-only standby. */
const FIXABLE_CODES: ReadonlySet<string> = new Set(['42501', '25006']);

const UNDEFINED_TABLE = '42P01';

function sqlStateOf(error: unknown): string | null {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && /\d/.test(code) ? code : null;
}

/** Converts errors of the driver to `database_unavailable`, except errors that a bug of docshelf causes. */
function asDatabaseFault(error: unknown): unknown {
  if (error instanceof DocshelfError) return error;
  const state = sqlStateOf(error);
  if (state !== null && BUG_CLASSES.test(state) && !FIXABLE_CODES.has(state)) return error;
  return unavailable(stateOf(error, state), error);
}

function unavailable(state: string, cause: unknown): DocshelfError {
  return new DocshelfError('database_unavailable', `Cannot use the database: ${state}`, {
    next: 'Check that PostgreSQL runs and that database.urlFile contains its URL. docshelf reconnects automatically.',
    cause,
    fields: { retryable: true },
  });
}

function stateOf(error: unknown, sqlState: string | null): string {
  const { errors, message } = (error ?? {}) as { readonly errors?: readonly Error[]; readonly message?: string };
  const reason = message || errors?.map((each) => each.message).join(', ') || 'it does not respond';
  return sqlState === null ? reason : `${reason} (${sqlState})`;
}
