import { rm } from 'node:fs/promises';
import { DocshelfError, toDocshelfError } from '../../domain/errors.ts';
import { CANCELED, isTerminal, type Job } from '../../domain/job.ts';
import type { SpanFacts, SpanOptions } from '../../traces/tracer.ts';
import { jobIdOf, journalFolder, removeWorkFolders } from '../exports-folder.ts';
import type { Claimed, StoredJob } from '../ports.ts';
import { JobProgress } from './job-progress.ts';
import type { JobQueue } from './queue/sql-job-queue.ts';
import { type RunJobOptions, runJob } from './run-job.ts';

interface JobRunnerOptions extends RunJobOptions {
  readonly settings: () => JobRunnerSettings;
  readonly onEvent: (event: JobEvent) => void;
}

export type JobRunnerSettings = { readonly concurrency: number; readonly deadlineMs: number; readonly leaseMs: number };

export type JobEvent =
  | { readonly kind: 'started'; readonly job: Job; readonly attempt: number }
  | { readonly kind: 'completed'; readonly job: Job; readonly tookMs: number }
  | { readonly kind: 'failed'; readonly job: Job; readonly error: DocshelfError }
  | { readonly kind: 'left'; readonly job: Job }
  | { readonly kind: 'fault'; readonly job: Job | null; readonly error: DocshelfError };

/** Interval at which the runner looks for jobs of other processes. For its own new jobs, this process calls `nudge`. */
const POLL_MS = 1_000;
/** Maximum attempts of a job. A job that reaches this number probably kills its process in each attempt. */
const ATTEMPTS_MAX = 50;

export class JobRunner {
  readonly #options: JobRunnerOptions;
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #wake = Promise.withResolvers<void>();
  #loop: Promise<void> = Promise.resolve();
  #isQueueAway = false;

  constructor(options: JobRunnerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#loop = this.#claimJobs();
  }

  nudge(): void {
    this.#wake.resolve();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.nudge();
    await this.#loop;
    await Promise.all(this.#running);
  }

  async #claimJobs(): Promise<void> {
    await this.#sweep().catch((error: unknown) => this.#fault(error));
    while (!this.#stopping.signal.aborted) {
      this.#wake = Promise.withResolvers<void>();
      const job = await this.#claimNext();
      if (job !== null) {
        this.#run(job);
        continue;
      }
      const timer = setTimeout(this.#wake.resolve, POLL_MS);
      await this.#wake.promise;
      clearTimeout(timer);
    }
  }

  async #claimNext(): Promise<StoredJob | null> {
    const { settings, queue } = this.#options;
    const { concurrency, leaseMs } = settings();
    if (this.#running.size >= concurrency) return null;
    try {
      const job = await queue.claim(leaseMs);
      this.#isQueueAway = false;
      return job;
    } catch (error) {
      if (!this.#isQueueAway) this.#fault(error);
      this.#isQueueAway = true;
      return null;
    }
  }

  #run(job: StoredJob): void {
    const run = this.#runClaimed(job)
      .catch((error: unknown) => this.#fault(error, job))
      .finally(() => {
        this.#running.delete(run);
        this.nudge();
      });
    this.#running.add(run);
  }

  async #runClaimed(job: StoredJob): Promise<void> {
    const { queue, onEvent, settings, tracer } = this.#options;
    const startedAtMs = performance.now();
    onEvent({ kind: 'started', job, attempt: job.attempt });
    const lease = new Lease(queue, job, settings(), this.#stopping.signal);
    const progress = new JobProgress(queue, job, () => lease.end('lost'));
    try {
      if (job.attempt > ATTEMPTS_MAX) {
        throw new DocshelfError('internal', `Cannot export "${job.domain}": it was interrupted ${ATTEMPTS_MAX} times`, {
          next: 'Check the log for the reason why docshelf ended during this export. Often, it had too little memory. Then start a new export.',
        });
      }
      const deadlineAtMs = startedAtMs + settings().deadlineMs;
      const { bundle, report } = await tracer.span('process exports', spanOf(job), () =>
        runJob(job, progress, this.#options, lease.signal, deadlineAtMs),
      );
      await progress.settle();
      if (await queue.complete(job, bundle, report)) {
        onEvent({ kind: 'completed', job, tookMs: performance.now() - startedAtMs });
      } else await this.#endUnfinished(job, (await queue.renew(job)) === 'canceled' ? 'canceled' : 'lost');
    } catch (error) {
      await progress.settle();
      // If the database is unavailable, keep the status `running`, so that the next attempt resumes from the checkpoint.
      if (error instanceof DocshelfError && error.code === 'database_unavailable') throw error;
      if (lease.ended === null || lease.ended === 'deadline') await this.#fail(job, lease.ended, error);
      else await this.#endUnfinished(job, lease.ended);
    } finally {
      lease.end('lost');
    }
  }

  async #fail(job: StoredJob, ended: 'deadline' | null, thrown: unknown): Promise<void> {
    const { queue, onEvent, settings } = this.#options;
    const error =
      ended === null
        ? toDocshelfError(thrown)
        : new DocshelfError(
            'deadline_exceeded',
            `Cannot export "${job.domain}": it took longer than ${Math.round(settings().deadlineMs / 1000)} s`,
            { next: 'Raise exportApi.deadline, or use "paths" to export fewer pages. Then start a new export.' },
          );
    const { code, message, next = null } = error;
    if (await queue.fail(job, { code, message, next }, null)) {
      await this.#forget(job);
      onEvent({ kind: 'failed', job, error });
    } else onEvent({ kind: 'left', job });
  }

  async #endUnfinished(job: StoredJob, ended: End): Promise<void> {
    const { queue, onEvent } = this.#options;
    if (ended === 'canceled') {
      await queue.fail(job, CANCELED, null);
      await this.#forget(job);
      const error = new DocshelfError('canceled', `Cannot export "${job.domain}": the job was canceled`);
      onEvent({ kind: 'failed', job, error });
      return;
    }
    if (ended === 'stopping') await queue.release(job);
    onEvent({ kind: 'left', job });
  }

  async #forget(job: Job): Promise<void> {
    const journal = journalFolder(this.#options.folder, job.jobId);
    await rm(journal, { recursive: true, force: true }).catch((error: unknown) => this.#fault(error, job));
  }

  async #sweep(): Promise<void> {
    const { folder, queue } = this.#options;
    await removeWorkFolders(folder, async (name) => {
      const job = await queue.get(jobIdOf(name));
      return job === null || isTerminal(job.status);
    });
  }

  #fault(error: unknown, job: Job | null = null): void {
    this.#options.onEvent({ kind: 'fault', job, error: toDocshelfError(error) });
  }
}

function spanOf(job: StoredJob): SpanOptions {
  const { attempt } = job;
  // Record the waiting time only for the first attempt of a job. For a later attempt, it would include the earlier attempts.
  const queuedS = attempt === 1 ? Math.max(0, Date.now() - Date.parse(job.createdAt)) / 1000 : null;
  const facts = { 'docshelf.job.attempt': attempt, 'docshelf.job.queued_s': queuedS };
  return { kind: 'consumer', parent: job.traceparent, facts: { ...queueFacts('process'), ...jobFacts(job), ...facts } };
}

export type End = 'lost' | 'canceled' | 'deadline' | 'stopping';

const HEARTBEAT_MS_MAX = 1_000;

/** Renews the lease of a claimed job. If the job must stop, `signal` aborts, and `ended` is the reason. */
export class Lease {
  readonly #controller = new AbortController();
  readonly #beat: NodeJS.Timeout;
  readonly #deadline: NodeJS.Timeout;
  #ended: End | null = null;

  constructor(
    queue: Pick<JobQueue, 'renew'>,
    job: Claimed,
    { leaseMs, deadlineMs }: { readonly leaseMs: number; readonly deadlineMs: number },
    stopping: AbortSignal,
  ) {
    const renew = async (): Promise<void> => {
      // Ignore a failed renewal. If another process has taken the job, the next renewal or the next write reports it.
      const state = await queue.renew(job).catch(() => 'held' as const);
      if (state !== 'held') this.end(state);
    };
    this.#beat = setInterval(() => void renew(), Math.min(leaseMs / 3, HEARTBEAT_MS_MAX));
    this.#deadline = setTimeout(() => this.end('deadline'), deadlineMs);
    stopping.addEventListener('abort', () => this.end('stopping'), { signal: this.signal });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get ended(): End | null {
    return this.#ended;
  }

  end(reason: End): void {
    this.#ended ??= reason;
    clearInterval(this.#beat);
    clearTimeout(this.#deadline);
    this.#controller.abort();
  }
}

export const queueFacts = (operation: 'send' | 'process'): SpanFacts => ({
  'messaging.system': 'docshelf',
  'messaging.destination.name': 'exports',
  'messaging.operation.name': operation,
  'messaging.operation.type': operation,
});

export const jobFacts = ({ jobId, domain, version, organizationId }: StoredJob): SpanFacts => ({
  'messaging.message.id': jobId,
  'docshelf.domain': domain,
  'docshelf.version': version,
  'docshelf.organization': organizationId,
});
