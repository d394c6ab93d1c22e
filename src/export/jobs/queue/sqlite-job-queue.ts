import type { ExportedBundle, ExportReport } from '../../../domain/job.ts';
import { HEAPS, Thread, threadEntry } from '../../../threads/index.ts';
import type { Claim, JobCounts, JobFilter, JobQueue, NewJob, StoredJob } from '../../ports.ts';
import type { QueueArgs, QueueCalls, QueueMethod, QueueOrder, QueueResult } from './queue-calls.ts';

/** Calls of clients that wait at once: some seconds' worth of flushes. What a job's holder writes is never refused. */
const WAITING_MAX = 1000;

/** A call waits up to five seconds for another process's lock. */
const ENDING_MS_MAX = 10_000;

const refOf = ({ job, attempt }: Claim) => ({ jobId: job.jobId, attempt });

/** The embedded queue: a file of SQLite, in a thread of its own that is started by the first call. */
export class SqliteJobQueue implements JobQueue {
  readonly #thread: Thread<QueueCalls>;

  private constructor(order: QueueOrder, entry: URL) {
    // Whoever waits while it dies does not learn whether its call was carried out. What is on the disk stays.
    this.#thread = new Thread({ task: 'ask for jobs', heap: HEAPS.queue, entry, data: order, callsMax: WAITING_MAX });
  }

  /**
   * The queue, once it is known that its file can be used.
   *
   * @param entry of the thread, for tests that turn its clocks
   * @throws DocshelfError `data_folder_newer`, `cannot_write`, `cannot_read`, `busy`
   */
  static async open(order: QueueOrder, entry = threadEntry('./worker', import.meta)): Promise<SqliteJobQueue> {
    const queue = new SqliteJobQueue(order, entry);
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
    return this.#thread.end({ withinMs: ENDING_MS_MAX });
  }

  /** A call of a client: refused where too many wait. */
  #ask<Method extends QueueMethod>(method: Method, ...args: QueueArgs<Method>): Promise<QueueResult<Method>> {
    return this.#thread.call('ask', { method, args }) as Promise<QueueResult<Method>>;
  }

  #call<Method extends QueueMethod>(method: Method, ...args: QueueArgs<Method>): Promise<QueueResult<Method>> {
    return this.#thread.call('ask', { method, args }, { isUrgent: true }) as Promise<QueueResult<Method>>;
  }
}
