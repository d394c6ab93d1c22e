import { HEAPS, Thread, threadEntry } from '../../../threads/index.ts';
import type { Claim, JobQueue } from '../../ports.ts';
import type { QueueArgs, QueueCalls, QueueMethod, QueueOrder, QueueResult } from './queue-thread.ts';

/** Calls of clients that wait at once: some seconds' worth of flushes. Those of a job's holder are never refused. */
const WAITING_MAX = 1000;

/** A call waits up to five seconds for another process's lock. */
const ENDING_MS_MAX = 10_000;

const refOf = ({ job, attempt }: Claim) => ({ jobId: job.jobId, attempt });

/** The embedded queue: a file of SQLite, in a thread of its own that is started by the first call. */
export class SqliteJobQueue implements JobQueue {
  readonly #thread: Thread<QueueCalls>;

  private constructor(order: QueueOrder, entry: URL) {
    // A call that waits while it dies may have been carried out.
    this.#thread = new Thread({ task: 'ask for jobs', heap: HEAPS.queue, entry, data: order, callsMax: WAITING_MAX });
  }

  /** @throws DocshelfError `data_folder_newer`, `cannot_write`, `cannot_read`, `busy`. @param entry for tests */
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

  readonly add: JobQueue['add'] = (job, queuedMax) => this.#ask('add', job, queuedMax);
  readonly get: JobQueue['get'] = (jobId) => this.#ask('get', jobId);
  readonly list: JobQueue['list'] = (filter) => this.#ask('list', filter);
  readonly cancel: JobQueue['cancel'] = (jobId) => this.#ask('cancel', jobId);
  readonly report: JobQueue['report'] = (jobId) => this.#ask('report', jobId);

  readonly claim: JobQueue['claim'] = (leaseMs) => this.#call('claim', leaseMs);
  readonly renew: JobQueue['renew'] = (claim) => this.#call('renew', refOf(claim));
  readonly advance: JobQueue['advance'] = (claim, step) => this.#call('advance', refOf(claim), step);
  readonly complete: JobQueue['complete'] = (claim, ...end) => this.#call('complete', refOf(claim), ...end);
  readonly fail: JobQueue['fail'] = (claim, ...end) => this.#call('fail', refOf(claim), ...end);
  readonly release: JobQueue['release'] = (claim) => this.#call('release', refOf(claim));
  readonly lastCompleted: JobQueue['lastCompleted'] = (...version) => this.#call('lastCompleted', ...version);
  readonly counts: JobQueue['counts'] = (organizationId) => this.#call('counts', organizationId);
  readonly revision: JobQueue['revision'] = () => this.#ask('revision');

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

  close(): Promise<void> {
    return this.#thread.end({ withinMs: ENDING_MS_MAX });
  }

  #ask<Method extends QueueMethod>(method: Method, ...args: QueueArgs<Method>): Promise<QueueResult<Method>> {
    return this.#thread.call('ask', { method, args }) as Promise<QueueResult<Method>>;
  }

  #call<Method extends QueueMethod>(method: Method, ...args: QueueArgs<Method>): Promise<QueueResult<Method>> {
    return this.#thread.call('ask', { method, args }, { isUrgent: true }) as Promise<QueueResult<Method>>;
  }
}
