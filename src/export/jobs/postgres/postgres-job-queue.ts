import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Session } from '../../../database/database.ts';
import type { Statement, StatementValues } from '../../../database/statement.ts';
import { toDocshelfError } from '../../../domain/errors.ts';
import { CANCELED, type ExportReport, type JobFault } from '../../../domain/job.ts';
import type { Claim, JobCounts, JobQueue, StoredJob } from '../../ports.ts';
import { type JobRow, jobPage, listAsked, toStoredJob } from '../queue/row.ts';
import { checkCheckpoint, queueFull } from '../queue-bounds.ts';
import { type JobRun, JobRuns } from './runs.ts';
import { SQL } from './statements.ts';

interface PostgresJobQueueOptions {
  readonly database: Database;
  /** Of pg-boss, beside any call. */
  readonly onFault: (error: unknown) => void;
  /** For tests. */
  readonly wallMs?: () => number;
  /** For tests: how often a claim looks for holders that say nothing. */
  readonly expireEveryMs?: number;
}

/** With the least lease of 10 s, and a look each second, another holder goes on within 16 s. */
const EXPIRE_EVERY_MS = 5_000;

/**
 * The queue that any number of processes share. Jobs wait and are told of in a table of ours, which knows whose turn it is; pg-boss holds
 * those that run. What both say of a job changes in one transaction.
 */
export class PostgresJobQueue implements JobQueue {
  readonly #database: Database;
  readonly #runs: JobRuns;
  readonly #wallMs: () => number;
  readonly #expireEveryMs: number;
  #expiredAtMs = Number.NEGATIVE_INFINITY;
  /** Jobs of one process are added in the order of the calls. */
  #adding: Promise<unknown> = Promise.resolve();

  constructor({ database, onFault, wallMs, expireEveryMs }: PostgresJobQueueOptions) {
    this.#database = database;
    this.#runs = new JobRuns(database, onFault);
    this.#wallMs = wallMs ?? Date.now;
    this.#expireEveryMs = expireEveryMs ?? EXPIRE_EVERY_MS;
  }

  readonly add: JobQueue['add'] = (job, queuedMax) => {
    const adding = this.#adding.then(() => this.#add(job, queuedMax));
    this.#adding = adding.catch(() => undefined);
    return adding;
  };

  get(jobId: string): Promise<StoredJob | null> {
    return this.#job(SQL.get, { jobId });
  }

  readonly list: JobQueue['list'] = async (filter) => {
    const { statement, values } = listAsked(SQL, filter);
    return jobPage(await this.#database.run<JobRow>(statement, values), filter.limit);
  };

  async claim(leaseMs: number): Promise<Claim | null> {
    if (performance.now() - this.#expiredAtMs >= this.#expireEveryMs) {
      await this.#runs.expire();
      this.#expiredAtMs = performance.now();
    }
    for (;;) {
      const claimed = await undoable(this.#database, async (session) => {
        await session.run(SQL.lockClaims);
        return (await this.#claimAbandoned(session)) ?? (await this.#claimQueued(session, leaseMs));
      });
      if (claimed !== null) return claimed.value;
    }
  }

  readonly renew: JobQueue['renew'] = async (claim) => {
    const held = await this.#held(this.#database, claim);
    if (held === null || !(await this.#runs.touch(held))) return 'lost';
    return held.isCanceled ? 'canceled' : 'held';
  };

  readonly advance: JobQueue['advance'] = async (claim, { progress, pageCount, checkpoint = null }) => {
    checkCheckpoint(checkpoint);
    const held = await this.#held(this.#database, claim);
    if (held === null || !(await this.#runs.touch(held))) return false;
    return this.#changes(this.#database, SQL.advance, { ...refOf(claim), progress, pageCount, checkpoint });
  };

  readonly complete: JobQueue['complete'] = (claim, bundle, report) =>
    this.#end(claim, SQL.complete, {
      bundleSha256: bundle.sha256,
      bundleSizeBytes: bundle.sizeBytes,
      contentSha256: bundle.contentSha256,
      pageCount: report.pages,
      report: JSON.stringify(report),
    });

  readonly fail: JobQueue['fail'] = (claim, fault, report) => this.#end(claim, SQL.fail, failure(fault, report));

  readonly release: JobQueue['release'] = async (claim) => {
    if (await this.#end(claim, SQL.release, {})) return;
    await this.#end(claim, SQL.fail, failure(CANCELED, null));
  };

  cancel(jobId: string): Promise<StoredJob | null> {
    return this.#database.transact(async (session) => {
      const nowMs = this.#wallMs();
      await session.run(SQL.cancelQueued, { jobId, nowMs });
      await session.run(SQL.askToStop, { jobId, nowMs });
      return jobOf(await session.run<JobRow>(SQL.get, { jobId }));
    });
  }

  async report(jobId: string): Promise<ExportReport | null> {
    const [row] = await this.#database.run<{ readonly report: string | null }>(SQL.report, { jobId });
    return row === undefined || row.report === null ? null : (JSON.parse(row.report) as ExportReport);
  }

  async lastCompleted(organizationId: string, domain: string, version: string | null): Promise<StoredJob | null> {
    const asked = { organizationId, domain, version };
    return (await patiently(() => this.#job(SQL.lastCompleted, asked))).result;
  }

  async counts(organizationId?: string): Promise<JobCounts> {
    const [row] = await this.#database.run<JobCounts>(SQL.counts, { organizationId: organizationId ?? null });
    return row ?? { queued: 0, running: 0 };
  }

  async revision(): Promise<string> {
    return JSON.stringify(await this.#database.run(SQL.revision));
  }

  async prune(beforeMs: number): Promise<number> {
    return (await this.#database.run(SQL.prune, { beforeMs })).length;
  }

  async references(): Promise<{ readonly bundles: ReadonlySet<string>; readonly contents: ReadonlySet<string> }> {
    const rows = await this.#database.run<{ readonly bundleSha256: string; readonly contentSha256: string }>(
      SQL.references,
    );
    return {
      bundles: new Set(rows.map(({ bundleSha256 }) => bundleSha256)),
      contents: new Set(rows.map(({ contentSha256 }) => contentSha256)),
    };
  }

  /** The database stays open: it is not the queue's own. */
  close(): Promise<void> {
    return this.#runs.close();
  }

  async #add(...[job, queuedMax]: Parameters<JobQueue['add']>): Promise<StoredJob> {
    const { jobId, organizationId, domain, version, paths, traceparent } = job;
    const asked = { organizationId, domain, version, paths: paths === null ? null : JSON.stringify(paths) };
    return this.#database.transact(async (session) => {
      await session.run(SQL.lockOrganization, { organizationId });
      const equal = jobOf(await session.run<JobRow>(SQL.equalQueued, asked));
      if (equal !== null) return equal;
      const [counts] = await session.run<JobCounts>(SQL.counts, { organizationId });
      if ((counts?.queued ?? 0) >= queuedMax) throw queueFull(domain, queuedMax);
      const added = jobOf(await session.run<JobRow>(SQL.add, { ...asked, jobId, traceparent, nowMs: this.#wallMs() }));
      if (added === null) throw new Error(`job ${jobId} was not added`);
      return added;
    });
  }

  async #claimAbandoned(session: Session): Promise<Claim | null> {
    for (;;) {
      const run = await this.#runs.takeAbandoned(session);
      if (run === null) return null;
      const [row] = await session.run<JobRow>(SQL.abandoned, { runId: run.runId });
      if (row !== undefined && row.isCanceled === 0) return this.#begin(session, row.jobId, run);
      // Nobody is left to hear that it is canceled.
      await this.#runs.end(session, run);
      if (row !== undefined) {
        await this.#changes(session, SQL.fail, {
          jobId: row.jobId,
          attempt: row.attempt,
          ...failure(CANCELED, null),
        });
      }
    }
  }

  async #claimQueued(session: Session, leaseMs: number): Promise<Claim | null> {
    const [next] = await session.run<Pick<StoredJob, 'jobId' | 'organizationId'>>(SQL.nextQueued);
    if (next === undefined) return null;
    await session.run(SQL.takeTurn, { organizationId: next.organizationId });
    const run = await this.#runs.begin(session, leaseMs);
    if (run === null) throw UNDO;
    return this.#begin(session, next.jobId, run);
  }

  async #begin(session: Session, jobId: string, { runId, runRetry }: JobRun): Promise<Claim> {
    const job = jobOf(await session.run<JobRow>(SQL.begin, { jobId, runId, runRetry, nowMs: this.#wallMs() }));
    // Canceled since it was chosen.
    if (job === null) throw UNDO;
    return { job, attempt: job.attempt };
  }

  /** Both say that the attempt has ended, or neither. A database that is away is waited for: the work is done. */
  async #end(claim: Claim, ending: Statement, values: StatementValues): Promise<boolean> {
    const end = () =>
      undoable(this.#database, async (session) => {
        const held = await this.#held(session, claim);
        if (held === null || !(await this.#changes(session, ending, { ...refOf(claim), ...values }))) throw UNDO;
        if (!(await this.#runs.end(session, held))) throw UNDO;
      });
    const { result, faults } = await patiently(end);
    if (result !== null) return true;
    if (faults === 0) return false;
    // What a connection was lost at may have been carried out.
    const [ended] = await this.#database.run<{ readonly status: string }>(SQL.ended, refOf(claim));
    return ended?.status === STATUS_AFTER.get(ending);
  }

  async #held(session: Session, claim: Claim): Promise<(JobRun & { readonly isCanceled: boolean }) | null> {
    const [held] = await session.run<JobRun & { readonly isCanceled: boolean }>(SQL.held, refOf(claim));
    return held ?? null;
  }

  async #changes(session: Session, change: Statement, values: StatementValues): Promise<boolean> {
    return (await session.run(change, { ...values, nowMs: this.#wallMs() })).length > 0;
  }

  async #job(asked: Statement, values: StatementValues): Promise<StoredJob | null> {
    return jobOf(await this.#database.run<JobRow>(asked, values));
  }
}

/** Thrown within a transaction that is to be undone: the claim is lost, or another one goes first. */
const UNDO = new Error('undone');

async function undoable<T>(
  database: Database,
  act: (session: Session) => Promise<T>,
): Promise<{ readonly value: T } | null> {
  return database.transact(act).then(
    (value) => ({ value }),
    (error: unknown) => {
      if (error === UNDO) return null;
      throw error;
    },
  );
}

const STATUS_AFTER: ReadonlyMap<Statement, string> = new Map([
  [SQL.complete, 'completed'],
  [SQL.fail, 'failed'],
  [SQL.release, 'queued'],
]);

/** Longer than a server takes to start anew, or another one to take its place. */
const PATIENCE_MS = 120_000;
const PAUSE_MS = 500;

/** @throws DocshelfError `database_unavailable` after two minutes */
async function patiently<T>(act: () => Promise<T>): Promise<{ readonly result: T; readonly faults: number }> {
  const endMs = performance.now() + PATIENCE_MS;
  for (let faults = 0; ; faults += 1) {
    try {
      return { result: await act(), faults };
    } catch (error) {
      if (toDocshelfError(error).code !== 'database_unavailable' || performance.now() > endMs) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

const refOf = ({ job, attempt }: Claim) => ({ jobId: job.jobId, attempt });

const failure = ({ code, message, next }: JobFault, report: ExportReport | null) => ({
  error: message,
  errorCode: code,
  errorNext: next,
  report: report === null ? null : JSON.stringify(report),
});

function jobOf([row]: readonly JobRow[]): StoredJob | null {
  return row === undefined ? null : toStoredJob(row);
}
