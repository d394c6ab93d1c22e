import { Readable } from 'node:stream';
import { DocshelfError } from '../../../src/domain/errors.ts';
import { CANCELED, type ExportedBundle, type ExportReport, type JobFault, jobError } from '../../../src/domain/job.ts';
import type { JobQueue } from '../../../src/export/jobs/queue/sql-job-queue.ts';
import type { BundleStore, JobFilter, NewJob, StoredJob } from '../../../src/export/ports.ts';
import { ExportService, type ExportServiceOptions } from '../../../src/export/service.ts';
import { NO_TRACES } from '../../../src/traces/tracer.ts';

export const BUNDLE: ExportedBundle = {
  sha256: 'ab'.repeat(32),
  sizeBytes: 4096,
  contentSha256: 'cd'.repeat(32),
};

/** Name of the only picture of each job. */
export const PICTURE = '1-live.png';

export const failedBy = (fault: JobFault) => ({ status: 'failed', error: jobError(fault), fault }) as const;

/** In-memory jobs. The test advances them instead of a worker. */
export class MemoryQueue implements Pick<JobQueue, 'add' | 'get' | 'list' | 'cancel' | 'report' | 'revision'> {
  readonly #jobs = new Map<string, StoredJob>();
  readonly #reports = new Map<string, ExportReport>();
  readonly #startMs = Date.parse('2024-06-01T09:30:00.000Z');

  get size(): number {
    return this.#jobs.size;
  }

  async add(
    { jobId, organizationId, domain, version, paths, traceparent }: NewJob,
    queuedMax: number,
  ): Promise<StoredJob> {
    const waiting = [...this.#jobs.values()].filter(
      (job) => job.organizationId === organizationId && job.status === 'queued',
    );
    const wanted = JSON.stringify([domain, version, paths]);
    const equal = waiting.find((job) => JSON.stringify([job.domain, job.version, job.paths]) === wanted);
    if (equal !== undefined) return equal;
    if (waiting.length >= queuedMax) {
      throw new DocshelfError('queue_full', `Cannot export "${domain}": ${queuedMax} jobs wait already`);
    }
    const at = new Date(this.#startMs + this.size * 1000).toISOString();
    const job: StoredJob = {
      ...{ jobId, organizationId, domain, version, paths, traceparent },
      ...{ status: 'queued', progress: 0, pageCount: 0, createdAt: at, updatedAt: at, error: null },
      ...{ attempt: 0, isCanceled: false, checkpoint: null, bundle: null, fault: null },
    };
    this.#jobs.set(jobId, job);
    return job;
  }

  async get(jobId: string): Promise<StoredJob | null> {
    return this.#jobs.get(jobId) ?? null;
  }

  async list({ organizationId, domain, status, limit, cursor }: JobFilter) {
    const from = Number(cursor ?? 0);
    if (!Number.isInteger(from)) throw new DocshelfError('bad_request', 'Cannot list jobs: the cursor is none');
    const all = [...this.#jobs.values()]
      .reverse()
      .filter(
        (job) =>
          (organizationId === null || job.organizationId === organizationId) &&
          (domain === undefined || job.domain === domain) &&
          (status === undefined || job.status === status),
      );
    const end = from + limit;
    return { jobs: all.slice(from, end), nextCursor: end < all.length ? String(end) : null };
  }

  async cancel(jobId: string): Promise<StoredJob | null> {
    const job = this.#jobs.get(jobId);
    if (job === undefined) return null;
    if (job.status === 'queued') return this.move(jobId, { ...failedBy(CANCELED), isCanceled: true });
    return job.status === 'running' ? this.move(jobId, { isCanceled: true }) : job;
  }

  async report(jobId: string): Promise<ExportReport | null> {
    return this.#reports.get(jobId) ?? null;
  }

  async revision(): Promise<string> {
    return JSON.stringify([...this.#jobs.values()]);
  }

  move(jobId: string, changes: Partial<StoredJob>): StoredJob {
    const job = this.#jobs.get(jobId);
    if (job === undefined) throw new Error(`there is no job ${jobId}`);
    const moved = { ...job, ...changes };
    this.#jobs.set(jobId, moved);
    return moved;
  }

  /** Completes a job with its bundle, and with a report if one is passed. */
  complete(jobId: string, report?: ExportReport): StoredJob {
    if (report !== undefined) this.#reports.set(jobId, report);
    return this.move(jobId, { status: 'completed', progress: 100, pageCount: 2, bundle: BUNDLE });
  }
}

/** Store whose bundles are digests, and whose links contain their parameters. */
export class MemoryStore implements Pick<BundleStore, 'has' | 'link' | 'read'> {
  readonly kept = new Set<string>([BUNDLE.sha256]);
  #links = 0;

  async has(sha256: string): Promise<boolean> {
    return this.kept.has(sha256);
  }

  async link({ sha256, fileName }: { sha256: string; fileName: string }, ttlMs: number) {
    this.#links++;
    const url = `https://store.example/${sha256}/${fileName}?ttl=${ttlMs}&n=${this.#links}`;
    return { url, expiresAt: new Date(Date.parse('2024-06-01T10:00:00.000Z') + ttlMs) };
  }

  async read(sha256: string): Promise<AsyncIterable<Uint8Array>> {
    return Readable.from([Buffer.from(sha256)]);
  }
}

export function exportsInMemory(changes: Partial<ExportServiceOptions> = {}) {
  const queue = new MemoryQueue();
  const store = new MemoryStore();
  const exports = new ExportService({
    queue,
    store,
    settings: () => ({ linkTtlMs: 3600_000, queuedMax: 3 }),
    repack: async ({ bundle }) => void store.kept.add(bundle?.sha256 ?? ''),
    pictureOf: async (_jobId, name) => (name === PICTURE ? new Uint8Array(8) : null),
    signatureOf: async () => null,
    onStarted: () => undefined,
    tracer: NO_TRACES,
    signal: new AbortController().signal,
    ...changes,
  });
  return { exports, queue, store };
}
