import { DocshelfError } from '../../../domain/errors.ts';
import { type BundleAnswer, type ExportRequest, isTerminal, type JobAnswer } from '../../../domain/job.ts';
import type { HttpClient } from '../../../net/http-client.ts';
import { readBundle, readJob, readJobs } from './export-answers.ts';
import {
  type Call,
  EXPORT_SERVICE_TOOLS,
  ExportCalls,
  type ExportServiceSettings,
  type ExportServiceTools,
} from './export-calls.ts';

export interface WaitOptions {
  /** For the whole wait. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called with each answer. */
  readonly onJob?: (job: JobAnswer) => void;
}

/** Between polls, where the service does not say; what it says counts within these bounds. */
const POLL_MS = 2_000;
const POLL_MS_MIN = 500;
const POLL_MS_MAX = 60_000;
/** Polls come up to this share later than asked for, so that many clients do not come together. */
const POLL_JITTER = 0.25;
/** A service that cannot be asked for this long is down; shorter than that, it is being deployed. */
const OUTAGE_MS_MAX = 120_000;

/** A service without the list of jobs, which is an addition of ours, answers one of these; 200 with something else. */
const NO_SUCH_LIST: ReadonlySet<unknown> = new Set([200, 400, 404, 405, 501]);

/**
 * The client of a static export service, ours or another's with the same API (contract, section 6). What the published calls
 * do not promise is not relied on: `Location`, `Retry-After`, `sha256`, and any form of error beyond the status.
 *
 * Every method throws DocshelfError `unauthorized`, `forbidden`, `not_found`, `bad_request`, `rate_limited`, `queue_full`,
 * `export_service_failed`, `source_unreachable`, `source_timeout`, `host_not_allowed`, with `fields.retryable`, or the signal's
 * reason where that aborts.
 */
export class ExportService {
  readonly #calls: ExportCalls;
  readonly #tools: ExportServiceTools;

  constructor(
    client: Pick<HttpClient, 'get' | 'post'>,
    settings: ExportServiceSettings,
    tools: ExportServiceTools = EXPORT_SERVICE_TOOLS,
  ) {
    this.#calls = new ExportCalls(client, settings, tools);
    this.#tools = tools;
  }

  /** Starts an export. Tried again only where the service says that it took none: an answer that is lost may have been a job. */
  async start({ domain, version, paths }: ExportRequest, signal: AbortSignal): Promise<JobAnswer> {
    return this.#calls.persist(({ fields }) => fields.status === 429 || fields.status === 503, {
      act: `start an export of "${domain}"`,
      method: 'POST',
      path: '/jobs',
      body: { domain, ...(version === null ? {} : { version }), ...(paths === null ? {} : { paths }) },
      read: readJob,
      signal,
    });
  }

  async status(jobId: string, signal: AbortSignal): Promise<JobAnswer> {
    return this.#calls.persist(isPassing, statusCall(jobId, signal));
  }

  /** A link to the job's bundle; each call gives a fresh one. @throws DocshelfError `not_completed` besides. */
  async bundle(jobId: string, signal: AbortSignal): Promise<BundleAnswer> {
    return this.#calls.persist(isPassing, {
      act: `get the bundle of job "${jobId}"`,
      method: 'POST',
      path: `/jobs/${encodeURIComponent(jobId)}/bundle`,
      read: (answer) => readBundle(answer, jobId),
      signal,
    });
  }

  /** The completed jobs of a domain, newest first, at most a hundred; null where the service has no such list. */
  async completedJobs(domain: string, signal: AbortSignal): Promise<readonly JobAnswer[] | null> {
    const query = new URLSearchParams({ domain, status: 'completed', limit: '100' });
    try {
      const jobs = await this.#calls.persist(isPassing, {
        act: `list the exports of "${domain}"`,
        method: 'GET',
        path: `/jobs?${query}`,
        read: readJobs,
        signal,
      });
      // A service that does not know the parameters gives all jobs, in an order of its own.
      return jobs
        .filter((job) => job.status === 'completed' && (job.domain === null || job.domain === domain))
        .toSorted((a, b) => Date.parse(b.createdAt ?? '1970') - Date.parse(a.createdAt ?? '1970'));
    } catch (error) {
      if (error instanceof DocshelfError && NO_SUCH_LIST.has(error.fields.status)) return null;
      throw error;
    }
  }

  /**
   * Polls until the job is over, as often as the service asks for. A service that is away for a while is waited for.
   *
   * @returns the completed job
   * @throws DocshelfError `job_failed` with the service's own reason, `job_timeout`, besides.
   */
  async wait(jobId: string, { timeoutMs, signal, onJob }: WaitOptions): Promise<JobAnswer> {
    const { random, steadyNow } = this.#tools;
    const endMs = steadyNow() + timeoutMs;
    let answeredMs = steadyNow();
    for (;;) {
      let retryAfterMs: unknown;
      try {
        const answered = await this.#calls.once(statusCall(jobId, signal));
        const job = answered.value;
        onJob?.(job);
        if (isTerminal(job.status)) return judged(job);
        retryAfterMs = answered.retryAfterMs;
        answeredMs = steadyNow();
      } catch (error) {
        if (!isPassing(error) || steadyNow() - answeredMs >= OUTAGE_MS_MAX) throw error;
        retryAfterMs = error.fields.retryAfterMs;
      }
      const leftMs = endMs - steadyNow();
      if (leftMs <= 0) throw timedOut(jobId, timeoutMs);
      const askedMs = typeof retryAfterMs === 'number' ? retryAfterMs : POLL_MS;
      const pollMs = Math.min(POLL_MS_MAX, Math.max(POLL_MS_MIN, askedMs)) * (1 + POLL_JITTER * random());
      // The last look comes when the time is up: a job that ended meanwhile counts.
      await this.#calls.pause(Math.min(pollMs, leftMs), signal);
    }
  }
}

function statusCall(jobId: string, signal: AbortSignal): Call<JobAnswer> {
  const path = `/jobs/${encodeURIComponent(jobId)}`;
  return { act: `ask for job "${jobId}"`, method: 'GET', path, read: readJob, signal };
}

function isPassing(error: unknown): error is DocshelfError {
  return error instanceof DocshelfError && error.fields.retryable === true;
}

function judged(job: JobAnswer): JobAnswer {
  if (job.status === 'completed') return job;
  const reason = job.error?.replace(/\.$/, '') ?? 'the service gives no reason';
  throw new DocshelfError('job_failed', `Cannot get the export "${job.jobId}": it failed: ${reason}`, {
    next: 'Mend what it names, and start another export.',
    fields: { jobId: job.jobId, retryable: false },
  });
}

function timedOut(jobId: string, timeoutMs: number): DocshelfError {
  const state = `it is not over after ${Math.round(timeoutMs / 1000)} s`;
  return new DocshelfError('job_timeout', `Cannot wait any longer for the export "${jobId}": ${state}`, {
    next: `It goes on at the service: wait on with "docshelf export wait ${jobId}".`,
    fields: { jobId, retryable: true },
  });
}
