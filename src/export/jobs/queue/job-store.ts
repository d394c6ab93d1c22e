import type { DatabaseSync } from 'node:sqlite';
import { CANCELED, type ExportedBundle, type ExportReport, type JobFault } from '../../../domain/job.ts';
import type { Claim, JobCounts, JobFilter, NewJob, StoredJob } from '../../ports.ts';
import { checkCheckpoint, queueFull } from '../queue-bounds.ts';
import { openDatabase, transact } from './database.ts';
import { type Holder, isGone, LeaseWatch, type LifeSign, thisHolder } from './leases.ts';
import { type JobRow, jobPage, listAsked, toStoredJob } from './row.ts';
import { prepareStatements, type Statements } from './statements.ts';

/** Milliseconds: the time of day, which may jump, and one that only runs forward. */
export interface Clocks {
  wallMs(): number;
  monotonicMs(): number;
}

type ClaimRef = Pick<StoredJob, 'jobId' | 'attempt'>;

/** Some milliseconds of one call, so that others get in between. */
const PRUNE_MAX = 200;
const REFERENCES_PER_PAGE = 1000;

interface RunningRow extends LifeSign {
  readonly seq: number;
  readonly holder: string | null;
  readonly isCanceled: 0 | 1;
}

/** `JobQueue` in a file, synchronous, for a thread. Of `prune` and `references` a call does a page. */
export class JobStore {
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  readonly #clocks: Clocks;
  readonly #leases = new LeaseWatch();
  readonly #here: Holder | null = thisHolder();

  /** @throws DocshelfError `data_folder_newer`; errors of SQLite and of the file system as they are */
  constructor(file: string, clocks: Clocks) {
    this.#database = openDatabase(file);
    this.#statements = prepareStatements(this.#database);
    this.#clocks = clocks;
  }

  add({ jobId, organizationId, domain, version, paths, traceparent }: NewJob, queuedMax: number): StoredJob {
    const nowMs = this.#clocks.wallMs();
    const pathsJson = paths === null ? null : JSON.stringify(paths);
    return this.#write(({ add, equalQueued, countQueuedOf }) => {
      const equal = jobOrNull(equalQueued.get({ organizationId, domain, version, paths: pathsJson }));
      if (equal !== null) return equal;
      if (countOf(countQueuedOf.get({ organizationId })) >= queuedMax) throw queueFull(domain, queuedMax);
      return jobOf(add.get({ jobId, organizationId, domain, version, paths: pathsJson, traceparent, nowMs }));
    });
  }

  get(jobId: string): StoredJob | null {
    return jobOrNull(this.#statements.get.get({ jobId }));
  }

  list(filter: JobFilter): { readonly jobs: readonly StoredJob[]; readonly nextCursor: string | null } {
    const { statement, values } = listAsked(this.#statements, filter);
    return jobPage(statement.all(values) as unknown as JobRow[], filter.limit);
  }

  claim(leaseMs: number): Claim | null {
    // Most looks find nothing to do, and a look takes no lock.
    if (this.#abandoned(leaseMs).length === 0 && this.#statements.nextQueued.get() === undefined) return null;
    return this.#write((statements) => {
      for (const { seq, jobId, attempt, isCanceled } of this.#abandoned(leaseMs)) {
        if (!isCanceled) return this.#begin(seq);
        this.#fail({ jobId, attempt }, CANCELED, null);
      }
      const next = statements.nextQueued.get() as { seq: number; organizationId: string } | undefined;
      if (next === undefined) return null;
      statements.takeTurn.run({ organizationId: next.organizationId });
      return this.#begin(next.seq);
    });
  }

  renew({ jobId, attempt }: ClaimRef): 'held' | 'lost' | 'canceled' {
    const row = this.#write(({ renew }) => renew.get({ jobId, attempt })) as { isCanceled: 0 | 1 } | undefined;
    if (row === undefined) return 'lost';
    return row.isCanceled ? 'canceled' : 'held';
  }

  advance(
    { jobId, attempt }: ClaimRef,
    step: { readonly progress: number; readonly pageCount: number; readonly checkpoint?: string },
  ): boolean {
    const { progress, pageCount, checkpoint = null } = step;
    checkCheckpoint(checkpoint);
    const nowMs = this.#clocks.wallMs();
    return this.#write(({ advance }) =>
      isDone(advance.run({ jobId, attempt, progress, pageCount, checkpoint, nowMs })),
    );
  }

  complete({ jobId, attempt }: ClaimRef, bundle: ExportedBundle, report: ExportReport): boolean {
    const columns = {
      bundleSha256: bundle.sha256,
      bundleSizeBytes: bundle.sizeBytes,
      contentSha256: bundle.contentSha256,
      pageCount: report.pages,
      report: JSON.stringify(report),
    };
    const nowMs = this.#clocks.wallMs();
    return this.#write(({ complete }) => isDone(complete.run({ jobId, attempt, ...columns, nowMs })));
  }

  fail(claim: ClaimRef, fault: JobFault, report: ExportReport | null): boolean {
    return this.#write(() => this.#fail(claim, fault, report));
  }

  release({ jobId, attempt }: ClaimRef): void {
    const nowMs = this.#clocks.wallMs();
    this.#write(({ release }) => {
      if (!isDone(release.run({ jobId, attempt, nowMs }))) this.#fail({ jobId, attempt }, CANCELED, null);
    });
  }

  cancel(jobId: string): StoredJob | null {
    const nowMs = this.#clocks.wallMs();
    return this.#write(({ cancelQueued, askToStop, get }) => {
      cancelQueued.run({ jobId, nowMs });
      askToStop.run({ jobId, nowMs });
      return jobOrNull(get.get({ jobId }));
    });
  }

  report(jobId: string): ExportReport | null {
    const row = this.#statements.report.get({ jobId }) as { report: string | null } | undefined;
    return row === undefined || row.report === null ? null : (JSON.parse(row.report) as ExportReport);
  }

  lastCompleted(organizationId: string, domain: string, version: string | null): StoredJob | null {
    return jobOrNull(this.#statements.lastCompleted.get({ organizationId, domain, version }));
  }

  counts(organizationId?: string): JobCounts {
    const { countQueued, countRunning, countQueuedOf, countRunningOf } = this.#statements;
    if (organizationId === undefined)
      return { queued: countOf(countQueued.get()), running: countOf(countRunning.get()) };
    const of = { organizationId };
    return { queued: countOf(countQueuedOf.get(of)), running: countOf(countRunningOf.get(of)) };
  }

  revision(): string {
    return JSON.stringify(this.#statements.revision.get());
  }

  prune(beforeMs: number): number {
    return this.#write(({ prune }) => Number(prune.run({ beforeMs, limit: PRUNE_MAX }).changes));
  }

  /** Digests that completed jobs name, by completion. @param after 0 first, then `next`, which is null at the end */
  references(after: number): { bundles: readonly string[]; contents: readonly string[]; next: number | null } {
    const rows = this.#statements.references.all({ after, limit: REFERENCES_PER_PAGE }) as unknown as {
      completion: number;
      bundleSha256: string;
      contentSha256: string;
    }[];
    return {
      bundles: rows.map(({ bundleSha256 }) => bundleSha256),
      contents: rows.map(({ contentSha256 }) => contentSha256),
      next: rows.length < REFERENCES_PER_PAGE ? null : (rows.at(-1)?.completion ?? null),
    };
  }

  close(): void {
    this.#database.close();
  }

  #write<T>(act: (statements: Statements) => T): T {
    return transact(this.#database, () => act(this.#statements));
  }

  #abandoned(leaseMs: number): RunningRow[] {
    const running = this.#statements.running.all() as unknown as RunningRow[];
    const expired = new Set(this.#leases.expired(running, leaseMs, this.#clocks.monotonicMs()));
    const holders = new Set(running.map(({ holder }) => holder).filter((holder) => holder !== null));
    const gone = new Set([...holders].filter((holder) => isGone(JSON.parse(holder) as Holder, this.#here)));
    return running.filter((row) => expired.has(row) || (row.holder !== null && gone.has(row.holder)));
  }

  #begin(seq: number): Claim {
    const holder = this.#here === null ? null : JSON.stringify(this.#here);
    const job = jobOf(this.#statements.begin.get({ seq, holder, nowMs: this.#clocks.wallMs() }));
    return { job, attempt: job.attempt };
  }

  #fail({ jobId, attempt }: ClaimRef, fault: JobFault, report: ExportReport | null): boolean {
    const columns = {
      error: fault.message,
      errorCode: fault.code,
      errorNext: fault.next,
      report: report === null ? null : JSON.stringify(report),
    };
    const nowMs = this.#clocks.wallMs();
    return isDone(this.#statements.fail.run({ jobId, attempt, ...columns, nowMs }));
  }
}

const jobOf = (row: unknown): StoredJob => toStoredJob(row as JobRow);
const jobOrNull = (row: unknown): StoredJob | null => (row === undefined ? null : jobOf(row));
const countOf = (row: unknown): number => (row as { jobs: number }).jobs;
const isDone = ({ changes }: { changes: number | bigint }): boolean => changes === 1;
