import type { Worker } from 'node:worker_threads';
import { DocshelfError } from '../../domain/errors.ts';
import type { ExportedBundle, ExportReport } from '../../domain/job.ts';
import { CalledThread } from '../../threads/called-thread.ts';
import type { Claim, JobCounts, JobFilter, JobQueue, NewJob, StoredJob } from '../ports.ts';
import type { QueueArgs, QueueMethod, QueueResult, ToQueueThread } from './ports.ts';

/** Calls of clients that wait at once: some seconds' worth of flushes. What a job's holder writes is never refused. */
const WAITING_MAX = 1000;

const refOf = ({ job, attempt }: Claim) => ({ jobId: job.jobId, attempt });

/** The embedded queue: a file of SQLite, in a thread of its own that is started by the first call. */
export class SqliteJobQueue implements JobQueue {
  readonly #thread: CalledThread;

  /** @param spawn starts `src/export/queue/worker.ts` with a `QueueOrder` as its `workerData` */
  constructor(spawn: () => Worker) {
    this.#thread = new CalledThread({
      spawn,
      // What is on the disk stays. Whoever waits does not learn whether its call was carried out.
      died: (cause) =>
        new DocshelfError('internal', 'Cannot ask for jobs: the thread of the job store has ended', { cause }),
      over: () => new DocshelfError('stopping', 'Cannot ask for jobs: docshelf is stopping'),
    });
  }

  /**
   * The queue, once it is known that its file can be used.
   *
   * @throws DocshelfError `data_folder_newer`, `cannot_write`, `cannot_read`, `busy`
   */
  static async open(spawn: () => Worker): Promise<SqliteJobQueue> {
    const queue = new SqliteJobQueue(spawn);
    try {
      await queue.counts();
      return queue;
    } catch (error) {
      await queue.close();
      throw error;
    }
  }

  async add(job: NewJob, queuedMax: number): Promise<StoredJob> {
    return this.#ask('add', job, queuedMax);
  }

  async get(jobId: string): Promise<StoredJob | null> {
    return this.#ask('get', jobId);
  }

  async list(filter: JobFilter): Promise<QueueResult<'list'>> {
    return this.#ask('list', filter);
  }

  async cancel(jobId: string): Promise<StoredJob | null> {
    return this.#ask('cancel', jobId);
  }

  async report(jobId: string): Promise<ExportReport | null> {
    return this.#ask('report', jobId);
  }

  async claim(leaseMs: number): Promise<Claim | null> {
    return this.#call('claim', leaseMs);
  }

  async renew(claim: Claim): Promise<'held' | 'lost' | 'canceled'> {
    return this.#call('renew', refOf(claim));
  }

  async advance(claim: Claim, step: QueueArgs<'advance'>[1]): Promise<boolean> {
    return this.#call('advance', refOf(claim), step);
  }

  async complete(claim: Claim, bundle: ExportedBundle, report: ExportReport): Promise<boolean> {
    return this.#call('complete', refOf(claim), bundle, report);
  }

  async fail(claim: Claim, error: string, report: ExportReport | null): Promise<boolean> {
    return this.#call('fail', refOf(claim), error, report);
  }

  async release(claim: Claim): Promise<void> {
    return this.#call('release', refOf(claim));
  }

  async lastCompleted(organizationId: string, domain: string, version: string | null): Promise<StoredJob | null> {
    return this.#call('lastCompleted', organizationId, domain, version);
  }

  async counts(organizationId?: string): Promise<JobCounts> {
    return this.#call('counts', organizationId);
  }

  async prune(beforeMs: number): Promise<number> {
    for (let total = 0; ; ) {
      const removed = await this.#call('prune', beforeMs);
      if (removed === 0) return total;
      total += removed;
    }
  }

  async references(): Promise<{ readonly bundles: ReadonlySet<string>; readonly contents: ReadonlySet<string> }> {
    const bundles = new Set<string>();
    const contents = new Set<string>();
    for (let after: number | null = 0; after !== null; ) {
      const page: QueueResult<'references'> = await this.#call('references', after);
      for (const digest of page.bundles) bundles.add(digest);
      for (const digest of page.contents) contents.add(digest);
      after = page.next;
    }
    return { bundles, contents };
  }

  /** Ends the thread, once what was asked before is answered. */
  close(): Promise<void> {
    return this.#thread.end();
  }

  /** A call of a client: refused where too many wait. */
  async #ask<Method extends QueueMethod>(method: Method, ...args: QueueArgs<Method>): Promise<QueueResult<Method>> {
    if (this.#thread.waiting >= WAITING_MAX) {
      throw new DocshelfError('busy', 'Cannot ask for jobs now: too many calls are waiting', {
        fields: { retryAfterS: 1 },
        next: 'Try again in a moment.',
      });
    }
    return this.#call(method, ...args);
  }

  #call<Method extends QueueMethod>(method: Method, ...args: QueueArgs<Method>): Promise<QueueResult<Method>> {
    const answer = this.#thread.ask((id) => ({ kind: 'call', id, method, args }) satisfies ToQueueThread);
    return answer as Promise<QueueResult<Method>>;
  }
}
