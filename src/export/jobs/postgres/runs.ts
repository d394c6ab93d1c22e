import { randomUUID } from 'node:crypto';
import type { PgBoss } from 'pg-boss';
import { type Database, MIGRATION_LOCK, type Session } from '../../../database/database.ts';
import { SCHEMA_NAME } from '../../../database/schema-name.ts';

/** An attempt that pg-boss holds: another one has another `runRetry`, or another `runId` where the job was given back between them. */
export interface JobRun {
  readonly runId: string;
  readonly runRetry: number;
}

const QUEUE = 'exports';
/** What pg-boss takes at the least. */
const HEARTBEAT_S_MIN = 10;
/** What pg-boss takes at the most: a rule of the config keeps `exportApi.deadline` below. */
const EXPIRE_S = 86_400;
const YEAR_S = 365 * 86_400;
/** Who gives up on a job is its runner, which counts attempts. */
const RETRIES_MAX = 1_000_000;

/**
 * The running jobs as pg-boss has them: who holds which, by heartbeats that the database's clock measures, and by attempts that fence.
 * It is loaded by the first claim: a process that only answers calls needs none of it.
 */
export class JobRuns {
  readonly #database: Database;
  readonly #onFault: (error: unknown) => void;
  #boss: Promise<PgBoss> | null = null;

  constructor(database: Database, onFault: (error: unknown) => void) {
    this.#database = database;
    this.#onFault = onFault;
  }

  /** Lets go of runs whose holders have said nothing for their lease. */
  async expire(): Promise<void> {
    await (await this.#opened()).supervise(QUEUE);
  }

  /** One that was let go of, in a new attempt. */
  async takeAbandoned(session: Session): Promise<JobRun | null> {
    const boss = await this.#opened();
    const [run] = await boss.fetch(QUEUE, { db: asBossTakes(session) });
    return run === undefined ? null : { runId: run.id, runRetry: run.retryCount };
  }

  /** Null where another one was let go of meanwhile, which goes first: `takeAbandoned` has it in the next transaction. */
  async begin(session: Session, leaseMs: number): Promise<JobRun | null> {
    const boss = await this.#opened();
    const db = asBossTakes(session);
    const id = randomUUID();
    await boss.send(QUEUE, null, {
      id,
      db,
      heartbeatSeconds: Math.max(HEARTBEAT_S_MIN, Math.ceil(leaseMs / 1000)),
      expireInSeconds: EXPIRE_S,
      retentionSeconds: YEAR_S,
      retryLimit: RETRIES_MAX,
      retryDelay: 0,
    });
    const [run] = await boss.fetch(QUEUE, { db });
    return run?.id === id ? { runId: id, runRetry: run.retryCount } : null;
  }

  /** False where the attempt is no longer held. */
  async touch(run: JobRun): Promise<boolean> {
    return isDone(await (await this.#opened()).touch(QUEUE, attemptOf(run)));
  }

  /** The same; of what has ended pg-boss keeps nothing. */
  async end(session: Session, run: JobRun): Promise<boolean> {
    return isDone(await (await this.#opened()).deleteJob(QUEUE, attemptOf(run), { db: asBossTakes(session) }));
  }

  async close(): Promise<void> {
    const boss = await this.#boss?.catch(() => null);
    await boss?.stop({ graceful: false });
  }

  async #opened(): Promise<PgBoss> {
    this.#boss ??= this.#open();
    try {
      return await this.#boss;
    } catch (error) {
      this.#boss = null;
      throw error;
    }
  }

  async #open(): Promise<PgBoss> {
    const { PgBoss } = await import('pg-boss');
    const boss = new PgBoss({
      db: asBossTakes(this.#database),
      schema: SCHEMA_NAME,
      createSchema: false,
      // Claims say when, so that a process that takes no jobs does nothing.
      supervise: false,
      monitorIntervalSeconds: 1,
      schedule: false,
      monitorVacuum: false,
      flowIntervalSeconds: 86_400,
    });
    boss.on('error', this.#onFault);
    // Several that start at once would make its tables several times.
    await this.#database.transact(async (session) => {
      await session.execute('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
      await boss.start();
      await boss.createQueue(QUEUE);
    });
    return boss;
  }
}

/** Its types leave out what its manual and its code say: how many jobs a call was carried out for. */
const isDone = (answer: object): boolean => (answer as { readonly affected?: number }).affected === 1;

const attemptOf = ({ runId, runRetry }: JobRun) => ({ id: runId, retryCount: runRetry });

const asBossTakes = (session: Session) => ({
  executeSql: (text: string, values?: unknown[]) => session.execute(text, values),
});
