import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExportedBundle } from '../../../src/domain/job.ts';
import { ARCHIVE_LIMITS } from '../../../src/domain/limits.ts';
import { type ExportsFolder, openExportsFolder } from '../../../src/export/exports-folder.ts';
import type { JobQueue } from '../../../src/export/jobs/queue/sql-job-queue.ts';
import type { RunJobOptions } from '../../../src/export/jobs/run-job.ts';
import { type JobEvent, JobRunner, type JobRunnerSettings } from '../../../src/export/jobs/runner.ts';
import type { SearchData, StoredJob } from '../../../src/export/ports.ts';
import { Signatures } from '../../../src/export/signatures.ts';
import { DiskBundleStore } from '../../../src/export/stores/disk-bundle-store.ts';
import { NO_TRACES } from '../../../src/traces/tracer.ts';
import { jobIdOf, newJob, QUEUED_MAX } from '../../contract/job-queue/jobs.ts';
import { type Subject, sqliteSubject } from '../../contract/job-queue/subject.ts';
import { newFolder } from '../../helpers/new-folder.ts';
import { untilAborted } from '../../helpers/until-aborted.ts';
import { waitFor } from '../../helpers/wait-for.ts';
import { writeFiles } from '../../helpers/write-files.ts';
import { egressRulesOf } from '../../net/http-client-of.ts';

const JOB_THREAD = new URL('../../../src/app/export-thread.ts', import.meta.url);

export const PAGES = {
  'index.html': '<!doctype html><title>Home</title><a href="start.html">Start</a>',
  'start.html': '<!doctype html><title>Start</title><p>Begin.</p>',
};

/** The real queue with clocks that the test sets, the real stores and threads, and a site to export. */
export class JobBench {
  readonly events: JobEvent[] = [];
  readonly #subject: Subject;
  readonly #dir: string;
  readonly #runners: JobRunner[] = [];
  readonly folder: ExportsFolder;
  readonly store: DiskBundleStore;

  private constructor(subject: Subject, dir: string, folder: ExportsFolder) {
    this.#subject = subject;
    this.#dir = dir;
    this.folder = folder;
    this.store = new DiskBundleStore({ dir: folder.dir, publicUrl: () => 'http://127.0.0.1', nowMs: Date.now });
  }

  static async open(): Promise<JobBench> {
    const dir = newFolder();
    const bench = new JobBench(await sqliteSubject(), dir, await openExportsFolder(join(dir, 'exports')));
    await bench.write(PAGES);
    return bench;
  }

  async close(): Promise<void> {
    for (const runner of this.#runners) await runner.stop();
    await this.#subject.close();
    await rm(this.#dir, { recursive: true });
  }

  get queue(): JobQueue {
    return this.#subject.queue;
  }

  get clocks(): Subject['clocks'] {
    return this.#subject.clocks;
  }

  /** Opens the queue like another process. */
  another(): Promise<JobQueue> {
    return this.#subject.another();
  }

  /** Adds files to the exported site. */
  async write(files: Readonly<Record<string, string>>): Promise<void> {
    await writeFiles(join(this.#dir, 'site'), files);
  }

  remove(path: string): Promise<void> {
    return rm(join(this.#dir, 'site', path));
  }

  options(changes: Partial<RunJobOptions> = {}): RunJobOptions {
    return {
      folder: this.folder,
      queue: this.queue,
      store: this.store,
      shared: null,
      searchData: null,
      signatures: new Signatures(this.folder.signatures, () => null),
      siteOf: () => ({ source: { kind: 'folder', path: join(this.#dir, 'site') }, hosts: [] }),
      jobEntry: JOB_THREAD,
      limits: () => ARCHIVE_LIMITS,
      egress: () => egressRulesOf({ connectTimeoutMs: 1_000, idleTimeoutMs: 1_000 }),
      browser: () => ({ sandbox: 'auto', tabs: 4, pageTimeoutMs: 30_000, verify: 'off' }),
      pageThreads: 1,
      generator: 'docshelf test',
      tracer: NO_TRACES,
      ...changes,
    };
  }

  /** Starts to run jobs. The bench stops it at the end. */
  run(changes: Partial<RunJobOptions & JobRunnerSettings> = {}): JobRunner {
    const { concurrency = 1, deadlineMs = 60_000, leaseMs = 15_000, ...options } = changes;
    const runner = new JobRunner({
      ...this.options(options),
      settings: () => ({ concurrency, deadlineMs, leaseMs }),
      onEvent: (event) => this.events.push(event),
    });
    this.#runners.push(runner);
    runner.start();
    return runner;
  }

  add(name: string, domain = name): Promise<StoredJob> {
    return this.queue.add(newJob(jobIdOf(name), { domain }), QUEUED_MAX);
  }

  async get(name: string): Promise<StoredJob> {
    const job = await this.queue.get(jobIdOf(name));
    if (job === null) throw new Error(`there is no job ${name}`);
    return job;
  }

  until(name: string, matches: (job: StoredJob) => boolean): Promise<StoredJob> {
    return waitFor(
      async () => {
        const job = await this.get(name);
        return matches(job) ? job : null;
      },
      () => `the job ${name} is not as it has to be: ${JSON.stringify(this.events)}`,
    );
  }

  ended(name: string): Promise<StoredJob> {
    return this.until(name, ({ status }) => status === 'completed' || status === 'failed');
  }

  /** Runs a job to its end. @returns its bundle */
  async exported(name: string, domain = name, changes: Partial<RunJobOptions> = {}): Promise<ExportedBundle> {
    await this.add(name, domain);
    const runner = this.run(changes);
    const { bundle, error } = await this.ended(name);
    await runner.stop();
    if (bundle === null) throw new Error(`no bundle: ${error}`);
    return bundle;
  }

  /** File names in a folder of the service side. */
  async files(name: 'files' | 'bundles' | 'manifests' | 'work'): Promise<string[]> {
    const entries = await readdir(this.folder[name], { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  }
}

/** Search data that never completes, so that a job stays in the middle until it is aborted. */
export function endless(): SearchData & { readonly begun: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    begun: promise,
    make: (_site, _into, _onProgress, signal) => {
      resolve();
      return untilAborted(signal);
    },
  };
}
