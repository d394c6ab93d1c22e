import { readFileSync, readlinkSync } from 'node:fs';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { Session } from '../../../database/database.ts';
import type { Statement, StatementValues } from '../../../database/statement.ts';
import { DocshelfError, type ErrorCode, toDocshelfError } from '../../../domain/errors.ts';
import { CANCELED, type ExportedBundle, type ExportReport, type JobFault, jobError } from '../../../domain/job.ts';
import { isRunning, startTicksOf } from '../../../files/index.ts';
import { Scheduler } from '../../../threads/scheduler.ts';
import type { Claimed, JobCounts, JobFilter, NewJob, OldJobs, StoredJob } from '../../ports.ts';
import type { JobStatements } from './statements.ts';

type JobSession = Pick<Session, 'run'>;

export interface JobDatabase extends JobSession {
  transact<T>(act: (session: JobSession) => Promise<T>): Promise<T>;
}

export type JobQueue = Pick<SqlJobQueue, keyof SqlJobQueue>;

interface SqlJobQueueOptions {
  readonly database: JobDatabase;
  readonly statements: JobStatements;
  readonly wallMs?: () => number;
}

const PRUNE_MAX = 200;
const REFERENCES_PER_PAGE = 1000;
const NEVER_MS = Number.MAX_SAFE_INTEGER;

/**
 * Queue that several processes can share. Calls resolve when their changes are durable. A process that has claimed a job may
 * write to the job until the lease expires or another attempt begins. After that, its writes return false.
 */
export class SqlJobQueue {
  readonly #database: JobDatabase;
  readonly #sql: JobStatements;
  readonly #wallMs: () => number;
  readonly #here = thisHolder();
  #lastFaultMs = Number.NEGATIVE_INFINITY;
  /** Runs the calls of `add` one after the other, so that jobs of this process are queued in the order of these calls. */
  readonly #adding = new Scheduler(1);

  constructor({ database, statements, wallMs = Date.now }: SqlJobQueueOptions) {
    this.#database = database;
    this.#sql = statements;
    this.#wallMs = wallMs;
  }

  /**
   * Adds a job, or returns a queued job with equal domain, version and paths. @throws DocshelfError `queue_full` if `queuedMax` jobs
   * wait
   */
  add(job: NewJob, queuedMax: number): Promise<StoredJob> {
    return this.#adding.run(() => this.#add(job, queuedMax));
  }

  get(jobId: string): Promise<StoredJob | null> {
    return this.#job(this.#sql.get, { jobId });
  }

  /** Lists jobs, newest first. @throws DocshelfError `bad_request` if the cursor is not from an earlier call */
  async list({ organizationId, domain, status, limit, cursor }: JobFilter) {
    const { listOfAll, list, listOfDomain, listOfStatus, listOfDomainAndStatus } = this.#sql;
    const [ofAll, ofDomain] = status === undefined ? [list, listOfDomain] : [listOfStatus, listOfDomainAndStatus];
    const ofOrganization = domain === undefined ? ofAll : ofDomain;
    const found = await this.#database.run<JobRow>(organizationId === null ? listOfAll : ofOrganization, {
      organizationId,
      domain: domain ?? null,
      status: status ?? null,
      before: seqOf(cursor),
      limit: limit + 1,
    });
    const rows = found.slice(0, limit);
    const last = rows.at(-1);
    const nextCursor = found.length > limit && last !== undefined ? cursorOf(last.seq) : null;
    return { jobs: rows.map(toStoredJob), nextCursor };
  }

  /**
   * Claims a job. Jobs whose lease was not renewed for `leaseMs` come first. Then organizations take turns, each with its oldest
   * job. A domain has at most one running job. After a database outage, no lease expires for `leaseMs`.
   */
  claim(leaseMs: number): Promise<StoredJob | null> {
    return this.#notingFaults(async () => {
      await this.#endLeasesOfTheDead();
      // No process can renew a lease during a database outage. After a database error, treat leases as valid for `leaseMs`.
      const expiresAfterMs = performance.now() - this.#lastFaultMs < leaseMs ? NEVER_MS : leaseMs;
      // Usually no job is waiting, so query first without a lock.
      while ((await this.#next(this.#database, expiresAfterMs)) !== null) {
        const job = await this.#database.transact((session) => this.#take(session, expiresAfterMs));
        if (job !== null) return job;
      }
      return null;
    });
  }

  /** Extends the lease. `lost`: another attempt has begun, or the job has ended. `canceled`: a client canceled the job, so stop it. */
  async renew(job: Claimed): Promise<'held' | 'lost' | 'canceled'> {
    const [held] = await this.#notingFaults(() =>
      this.#database.run<Pick<JobRow, 'isCanceled'>>(this.#sql.renew, refOf(job)),
    );
    if (held === undefined) return 'lost';
    return held.isCanceled ? 'canceled' : 'held';
  }

  /** Stores progress and page count, which never decrease. `checkpoint` is the digest of the collected site, for the next attempt. */
  advance(
    job: Claimed,
    step: { readonly progress: number; readonly pageCount: number; readonly checkpoint?: string },
  ): Promise<boolean> {
    return this.#changes(this.#database, this.#sql.advance, { ...refOf(job), ...step });
  }

  /**
   * Ends a job as `completed`, and stores its page count, because the last `advance` can have failed. Returns false if the attempt
   * has lost the job or the job was canceled.
   */
  complete(job: Claimed, bundle: ExportedBundle, report: ExportReport): Promise<boolean> {
    return this.#end(job, 'completed', this.#sql.complete, {
      bundleSha256: bundle.sha256,
      bundleSizeBytes: bundle.sizeBytes,
      contentSha256: bundle.contentSha256,
      pageCount: report.pages,
      report: JSON.stringify(report),
    });
  }

  fail(job: Claimed, fault: JobFault, report: ExportReport | null): Promise<boolean> {
    return this.#end(job, 'failed', this.#sql.fail, failure(fault, report));
  }

  async release(job: Claimed): Promise<void> {
    if (await this.#end(job, 'queued', this.#sql.release, {})) return;
    await this.fail(job, CANCELED, null);
  }

  /** Ends a queued job as `failed` with error `canceled`, and a running job at its next `renew`. Null if the job is missing. */
  async cancel(jobId: string): Promise<StoredJob | null> {
    await this.#changes(this.#database, this.#sql.cancel, { jobId });
    return this.get(jobId);
  }

  async report(jobId: string): Promise<ExportReport | null> {
    const [row] = await this.#database.run<{ readonly report: string | null }>(this.#sql.report, { jobId });
    return row === undefined || row.report === null ? null : (JSON.parse(row.report) as ExportReport);
  }

  async lastCompleted(organizationId: string, domain: string, version: string | null): Promise<StoredJob | null> {
    const request = { organizationId, domain, version };
    return (await patiently(() => this.#job(this.#sql.lastCompleted, request))).result;
  }

  async counts(organizationId?: string): Promise<JobCounts> {
    const { counts, countsOf } = this.#sql;
    const [row] =
      organizationId === undefined
        ? await this.#database.run<JobCounts>(counts)
        : await this.#database.run<JobCounts>(countsOf, { organizationId });
    return row ?? { queued: 0, running: 0 };
  }

  /** Short text that changes when a job is added, progresses or ends. Callers poll it to detect changes. */
  async revision(): Promise<string> {
    return JSON.stringify(await this.#database.run(this.#sql.revision));
  }

  /** Removes ended jobs, except the newest completed job of each domain. @returns number of removed jobs */
  async prune(old: OldJobs): Promise<number> {
    const prune = 'newest' in old ? this.#sql.pruneBeyond : this.#sql.pruneOlder;
    for (let total = 0; ; await setImmediate()) {
      const removed = await this.#database.run(prune, { ...old, limit: PRUNE_MAX });
      total += removed.length;
      if (removed.length < PRUNE_MAX) return total;
    }
  }

  async references(): Promise<{ readonly bundles: ReadonlySet<string>; readonly contents: ReadonlySet<string> }> {
    const bundles = new Set<string>();
    const contents = new Set<string>();
    for (let after = 0; ; await setImmediate()) {
      const page = { after, limit: REFERENCES_PER_PAGE };
      const rows = await this.#database.run<
        { readonly seq: number } & Record<'bundleSha256' | 'contentSha256', string>
      >(this.#sql.references, page);
      for (const { seq, bundleSha256, contentSha256 } of rows) {
        bundles.add(bundleSha256);
        contents.add(contentSha256);
        after = seq;
      }
      if (rows.length < REFERENCES_PER_PAGE) return { bundles, contents };
    }
  }

  async close(): Promise<void> {
    await this.#adding.run(async () => undefined);
  }

  async #add(job: NewJob, queuedMax: number): Promise<StoredJob> {
    const { jobId, organizationId, domain, version, paths, traceparent } = job;
    const request = { organizationId, domain, version, paths: paths === null ? null : JSON.stringify(paths) };
    return this.#database.transact(async (session) => {
      await session.run(this.#sql.lockOrganization, { organizationId });
      const [equal] = await session.run<JobRow>(this.#sql.equalQueued, request);
      if (equal !== undefined) return toStoredJob(equal);
      const [counts] = await session.run<JobCounts>(this.#sql.countsOf, { organizationId });
      if ((counts?.queued ?? 0) >= queuedMax) throw queueFull(domain, queuedMax);
      const added = { ...request, jobId, traceparent, nowMs: this.#wallMs() };
      return oneJob(await session.run<JobRow>(this.#sql.add, added));
    });
  }

  async #next(session: JobSession, leaseMs: number): Promise<Candidate | null> {
    const [abandoned] = await session.run<Candidate>(this.#sql.nextAbandoned, { leaseMs });
    if (abandoned !== undefined) return abandoned;
    const [queued] = await session.run<Candidate>(this.#sql.nextQueued);
    return queued ?? null;
  }

  async #take(session: JobSession, leaseMs: number): Promise<StoredJob | null> {
    await session.run(this.#sql.lockClaims);
    const next = await this.#next(session, leaseMs);
    if (next === null) return null;
    const { seq, jobId, attempt, organizationId } = next;
    if (next.isCanceled) {
      await this.#changes(session, this.#sql.fail, { jobId, attempt, ...failure(CANCELED, null) });
      return null;
    }
    if (next.status === 'queued') await session.run(this.#sql.takeTurn, { organizationId });
    const holder = this.#here === null ? null : JSON.stringify(this.#here);
    return oneJob(await session.run<JobRow>(this.#sql.begin, { seq, holder, nowMs: this.#wallMs() }));
  }

  async #endLeasesOfTheDead(): Promise<void> {
    for (const { holder } of await this.#database.run<{ readonly holder: string }>(this.#sql.holders)) {
      if (isGone(JSON.parse(holder) as Holder, this.#here)) await this.#database.run(this.#sql.endLeases, { holder });
    }
  }

  async #notingFaults<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      this.#lastFaultMs = performance.now();
      throw error;
    }
  }

  /** Stores the final status of a job. Retries during a database outage, because otherwise another attempt repeats the job. */
  async #end(job: Claimed, status: string, ending: Statement, values: StatementValues): Promise<boolean> {
    const end = () => this.#changes(this.#database, ending, { ...refOf(job), ...values });
    const { result, faults } = await patiently(end);
    if (result || faults === 0) return result;
    // Read the job's status, because a statement can succeed even if the connection is lost before the response.
    const [ended] = await this.#database.run<{ readonly status: string }>(this.#sql.ended, refOf(job));
    return ended?.status === status;
  }

  async #changes(session: JobSession, change: Statement, values: StatementValues): Promise<boolean> {
    return (await session.run(change, { ...values, nowMs: this.#wallMs() })).length > 0;
  }

  async #job(query: Statement, values: StatementValues): Promise<StoredJob | null> {
    const [row] = await this.#database.run<JobRow>(query, values);
    return row === undefined ? null : toStoredJob(row);
  }
}

type Candidate = Pick<JobRow, 'seq' | 'jobId' | 'organizationId' | 'status' | 'attempt' | 'isCanceled'>;

const refOf = ({ jobId, attempt }: Claimed) => ({ jobId, attempt });

const failure = ({ code, message, next }: JobFault, report: ExportReport | null) => ({
  error: message,
  errorCode: code,
  errorNext: next,
  report: report === null ? null : JSON.stringify(report),
});

/** Maximum time to retry a statement. Longer than a restart or a failover of the database server. */
const PATIENCE_MS = 120_000;
const PAUSE_MS = 500;

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

function queueFull(domain: string, queuedMax: number): DocshelfError {
  const message = `Cannot queue an export of "${domain}": ${queuedMax} jobs of its organization are waiting`;
  const next = 'Wait until a waiting job starts, or cancel a waiting job.';
  return new DocshelfError('queue_full', message, { next, fields: { queuedMax } });
}

interface JobRow extends Omit<StoredJob, 'createdAt' | 'updatedAt' | 'isCanceled' | 'bundle' | 'fault' | 'paths'> {
  readonly seq: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly isCanceled: 0 | 1;
  readonly bundleSha256: string | null;
  readonly bundleSizeBytes: number | null;
  readonly contentSha256: string | null;
  /** Error code of a failed job. Null in rows of older versions, whose `error` also contains the advice to the user. */
  readonly errorCode: ErrorCode | null;
  readonly errorNext: string | null;
  readonly paths: string | null;
}

function toStoredJob(row: JobRow): StoredJob {
  const {
    seq: _,
    createdAtMs,
    updatedAtMs,
    isCanceled,
    paths,
    bundleSha256,
    bundleSizeBytes,
    contentSha256,
    error,
    errorCode,
    errorNext,
    ...same
  } = row;
  const isPacked = bundleSha256 !== null && bundleSizeBytes !== null && contentSha256 !== null;
  const fault = error === null || errorCode === null ? null : { code: errorCode, message: error, next: errorNext };
  return {
    ...same,
    error: fault === null ? error : jobError(fault),
    fault,
    paths: paths === null ? null : (JSON.parse(paths) as string[]),
    createdAt: new Date(createdAtMs).toISOString(),
    updatedAt: new Date(updatedAtMs).toISOString(),
    isCanceled: isCanceled === 1,
    bundle: isPacked ? { sha256: bundleSha256, sizeBytes: bundleSizeBytes, contentSha256 } : null,
  };
}

function oneJob([row]: readonly JobRow[]): StoredJob {
  if (row === undefined) throw new Error('a job was not written');
  return toStoredJob(row);
}

const cursorOf = (seq: number): string => Buffer.from(String(seq)).toString('base64url');

function seqOf(cursor: string | undefined): number {
  if (cursor === undefined) return Number.MAX_SAFE_INTEGER;
  const seq = Number(Buffer.from(cursor, 'base64url').toString());
  // Encode the decoded number and compare it with the cursor, because `Buffer` ignores invalid base64url characters.
  if (Number.isSafeInteger(seq) && seq > 0 && cursorOf(seq) === cursor) return seq;
  throw new DocshelfError('bad_request', `Cannot list jobs from "${cursor.slice(0, 64)}": it is not a cursor`, {
    next: 'Send the unchanged nextCursor of an earlier response, or omit it to start with the newest job.',
    fields: { field: 'cursor' },
  });
}

/** Process that runs a job. If this process is certainly dead, another process can take the job before the lease expires. */
export interface Holder {
  readonly bootId: string;
  readonly pidNamespace: string;
  readonly pid: number;
  readonly startTicks: string;
}

export function thisHolder(): Holder | null {
  try {
    if (readlinkSync('/proc/self') !== String(process.pid)) return null;
    const startTicks = startTicksOf(process.pid);
    if (startTicks === null) return null;
    return {
      bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
      pidNamespace: readlinkSync('/proc/self/ns/pid'),
      pid: process.pid,
      startTicks,
    };
  } catch {
    return null;
  }
}

/** True if the process is certainly dead. Processes of other hosts or containers count as alive. @param here the current process */
export function isGone(holder: Holder, here: Holder | null): boolean {
  if (holder.bootId !== here?.bootId || holder.pidNamespace !== here.pidNamespace) return false;
  return !isRunning(holder.pid, holder.startTicks);
}
