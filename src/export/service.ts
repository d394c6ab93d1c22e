import { randomBytes } from 'node:crypto';
import { DocshelfError } from '../domain/errors.ts';
import {
  type BundleLink,
  bundleFileName,
  type ExportReport,
  type ExportRequest,
  isTerminal,
  JOB_ID_PATTERN,
  JOBS_LIMIT_MAX,
  type Job,
  type JobFault,
  type JobPage,
} from '../domain/job.ts';
import type { OwnedSite } from '../domain/organization.ts';
import { showName } from '../domain/secret.ts';
import { Scheduler } from '../threads/scheduler.ts';
import type { Tracer } from '../traces/tracer.ts';
import type { JobQueue } from './jobs/queue/sql-job-queue.ts';
import { jobFacts, queueFacts } from './jobs/runner.ts';
import type { BundleStore, JobFilter, StoredJob } from './ports.ts';

interface OwnedJob extends Job {
  readonly organization: string;
  readonly fault: JobFault | null;
}

export type ExportSettings = { readonly linkTtlMs: number; readonly queuedMax: number };

export interface ExportServiceOptions {
  readonly queue: Pick<JobQueue, 'add' | 'get' | 'list' | 'cancel' | 'report' | 'revision'>;
  readonly store: Pick<BundleStore, 'has' | 'link' | 'read'>;
  readonly settings: () => ExportSettings;
  readonly repack: (job: StoredJob, signal: AbortSignal) => Promise<void>;
  readonly pictureOf: (jobId: string, name: string) => Promise<Uint8Array<ArrayBuffer> | null>;
  readonly signatureOf: (sha256: string) => Promise<string | null>;
  readonly onStarted: () => void;
  readonly tracer: Tracer;
  readonly signal: AbortSignal;
}

/** Export jobs of organizations. A call for a job of another organization throws `not_found`. */
export class ExportService {
  readonly #options: ExportServiceOptions;
  readonly #packing = new Scheduler(Number.POSITIVE_INFINITY);

  constructor(options: ExportServiceOptions) {
    this.#options = options;
  }

  /** Queues an export. @throws DocshelfError `no_source` if the config names no source for the site, `queue_full` */
  async start(
    { domain, organization, source }: OwnedSite,
    { version, paths }: Omit<ExportRequest, 'domain'>,
  ): Promise<Job> {
    const { queue, settings, onStarted, tracer } = this.#options;
    if (source === null) throw noSource(domain);
    const jobId = `se_${randomBytes(8).toString('hex')}`;
    const request = { jobId, organizationId: organization.id, domain, version, paths };
    const queued = await tracer.span('send exports', { kind: 'producer', facts: queueFacts('send') }, async (span) => {
      const job = await queue.add({ ...request, traceparent: tracer.traceparent }, settings().queuedMax);
      span.note(jobFacts(job));
      return job;
    });
    onStarted();
    return jobView(queued);
  }

  async retry(site: OwnedSite, jobId: string): Promise<Job> {
    const { version, paths } = await this.#find('start again', site.organization.id, jobId);
    return this.start(site, { version, paths });
  }

  async get(organizationId: string, jobId: string): Promise<Job> {
    return jobView(await this.#find('show', organizationId, jobId));
  }

  async owned(jobId: string): Promise<OwnedJob> {
    return ownedView(await this.#find('find', null, jobId));
  }

  async listOwned(page: Pick<JobFilter, 'limit' | 'cursor'>) {
    const { jobs, nextCursor } = await this.#options.queue.list({ ...page, organizationId: null });
    return { jobs: jobs.map(ownedView), nextCursor };
  }

  revision(): Promise<string> {
    return this.#options.queue.revision();
  }

  async list(filter: JobFilter): Promise<JobPage> {
    const { jobs, nextCursor } = await this.#options.queue.list(filter);
    return { jobs: jobs.map(jobView), nextCursor };
  }

  /** Returns a job's report, empty if the job failed early. @throws DocshelfError `not_found`, or `not_completed` before the job ends */
  async report(organizationId: string, jobId: string): Promise<ExportReport> {
    const { status } = await this.#find('report on', organizationId, jobId);
    if (!isTerminal(status)) throw notCompleted('report on', jobId, status);
    const report = await this.#options.queue.report(jobId);
    return report ?? { jobId, pages: 0, files: 0, bytes: 0, counts: {}, findings: [] };
  }

  async picture(organizationId: string, jobId: string, name: string): Promise<Uint8Array<ArrayBuffer>> {
    await this.#find('show a picture of', organizationId, jobId);
    const picture = await this.#options.pictureOf(jobId, name);
    if (picture !== null) return picture;
    throw new DocshelfError('not_found', `Cannot show "${name.slice(0, 64)}": the job has no such picture`, {
      next: 'Request the report of the job. Its findings of kind pictures list the existing pictures.',
    });
  }

  async cancel(organizationId: string, jobId: string): Promise<Job> {
    await this.#find('cancel', organizationId, jobId);
    const canceled = await this.#options.queue.cancel(jobId);
    // The job was removed by retention after `#find` found it.
    if (canceled === null) throw noSuchJob('cancel', jobId);
    return jobView(canceled);
  }

  /**
   * Returns a bundle link. Packs a missing archive again. @throws DocshelfError `not_found`, `not_completed`, codes of
   * `repackBundle`
   */
  async bundle(organizationId: string, jobId: string): Promise<BundleLink> {
    const { store, settings, signatureOf } = this.#options;
    const { job, sha256, sizeBytes } = await this.#keepBundle('link to the bundle of', organizationId, jobId);
    const [{ url, expiresAt }, signature] = await Promise.all([
      store.link({ sha256, fileName: bundleFileName(job) }, settings().linkTtlMs),
      signatureOf(sha256),
    ]);
    return {
      jobId,
      bundleUrl: url,
      sizeBytes,
      expiresAt: expiresAt.toISOString(),
      sha256,
      ...(signature === null ? {} : { signature }),
    };
  }

  async newest(organizationId: string, domain: string, version: string | null) {
    const filter = { organizationId, domain, status: 'completed', limit: JOBS_LIMIT_MAX } as const;
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await this.#options.queue.list({ ...filter, ...(cursor === undefined ? {} : { cursor }) });
      const job = page.jobs.find(({ paths, ...each }) => paths === null && (version ?? each.version) === each.version);
      if (job?.bundle != null) {
        const { sha256 } = job.bundle;
        const { jobId, traceparent } = job;
        return { jobId, traceparent, sha256, signature: await this.#options.signatureOf(sha256) };
      }
      cursor = page.nextCursor;
    }
    return null;
  }

  async read(organizationId: string, jobId: string, signal: AbortSignal) {
    const { job, sha256, sizeBytes } = await this.#keepBundle('read the bundle of', organizationId, jobId);
    const stream = await this.#options.store.read(sha256, signal);
    return { stream, sizeBytes, fileName: bundleFileName(job) };
  }

  /** Packs the archive of a job again if it is missing. Concurrent calls share one packing. */
  async #keepBundle(act: string, organizationId: string, jobId: string) {
    const { store, repack, signal } = this.#options;
    const job = await this.#find(act, organizationId, jobId);
    const { status, bundle } = job;
    if (status !== 'completed' || bundle === null) throw notCompleted(act, jobId, status);
    const { sha256, sizeBytes } = bundle;
    const keep = async (): Promise<void> => {
      if (!(await store.has(sha256))) await repack(job, signal);
    };
    await this.#packing.run(keep, { share: sha256 });
    return { job, sha256, sizeBytes };
  }

  async #find(act: string, organizationId: string | null, jobId: string): Promise<StoredJob> {
    const job = JOB_ID_PATTERN.test(jobId) ? await this.#options.queue.get(jobId) : null;
    if (job === null || (organizationId ?? job.organizationId) !== job.organizationId) throw noSuchJob(act, jobId);
    return job;
  }
}

function noSuchJob(act: string, jobId: string): DocshelfError {
  return new DocshelfError('not_found', `Cannot ${act} "${showName(jobId)}": the job does not exist`, {
    next: 'Check that the ID is the jobId that the start of the export returned, and that the key belongs to the organization of the job.',
  });
}

function notCompleted(act: string, jobId: string, status: Job['status']): DocshelfError {
  const next =
    status === 'failed'
      ? 'Read the error of the job, fix its cause, and start a new export.'
      : 'Repeat GET /v1/static-export/jobs/{jobId} until the status is completed or failed.';
  return new DocshelfError('not_completed', `Cannot ${act} "${jobId}": the job is ${status}`, {
    next,
    fields: { status },
  });
}

function noSource(domain: string): DocshelfError {
  return new DocshelfError('no_source', `Cannot export "${domain}": no source is configured`, {
    next: `Ask the operator of this service to add a source for the domain "${domain}" to the config key organizations, then start the export again.`,
    fields: { domain },
  });
}

function ownedView(stored: StoredJob): OwnedJob {
  return { ...jobView(stored), organization: stored.organizationId, fault: stored.fault };
}

function jobView(stored: StoredJob): Job {
  const { jobId, domain, version, status, progress, pageCount, createdAt, updatedAt, error } = stored;
  return { jobId, domain, version, status, progress, pageCount, createdAt, updatedAt, error };
}
