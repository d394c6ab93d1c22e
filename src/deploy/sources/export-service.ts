import { DocshelfError, toDocshelfError } from '../../domain/errors.ts';
import {
  type BundleAnswer,
  type ExportReport,
  type ExportRequest,
  isTerminal,
  type JobAnswer,
} from '../../domain/job.ts';
import { linkWithoutSecrets, type Secret } from '../../domain/secret.ts';
import { jsonOf } from '../../domain/shape.ts';
import type { HttpClient } from '../../net/http-client.ts';
import type { HttpResponse } from '../../net/http-response.ts';
import { isTransient, RETRY_TOOLS, type RetryTools, retry, retryAfterOf } from '../../net/retry.ts';
import type { FreshLink, LinkSource } from '../ports.ts';
import type { RenewSettings } from '../settings.ts';
import { readBundle, readJob, readJobs, readReport, serviceRefusal } from './export-answers.ts';

interface WaitOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onJob?: (job: JobAnswer) => void;
}

/** Default time between polls, and the bounds for a time that the export service requests. */
const POLL_MS = 2_000;
const POLL_MS_MIN = 500;
const POLL_MS_MAX = 60_000;
/** Maximum random delay of a poll, as a share of the poll interval, so that clients spread their requests. */
const POLL_JITTER = 0.25;
/** Maximum outage of the export service while docshelf waits for a job. A redeployment of the service takes less time. */
const OUTAGE_MS_MAX = 120_000;

/** HTTP statuses from export services that cannot list jobs. Some of these services send status 200 with unexpected content. */
const NO_SUCH_LIST: ReadonlySet<unknown> = new Set([200, 400, 404, 405, 501]);

/** @throws DocshelfError `unauthorized`, `forbidden`, `not_found`, `rate_limited`, `queue_full`, `source_*` */
export class ExportServiceClient {
  readonly #client: Pick<HttpClient, 'get' | 'post'>;
  readonly #base: string;
  readonly #key: Secret;
  readonly #tools: ExportServiceTools;

  constructor(
    client: Pick<HttpClient, 'get' | 'post'>,
    { apiUrl, key }: ExportServiceSettings,
    tools: ExportServiceTools = EXPORT_SERVICE_TOOLS,
  ) {
    this.#client = client;
    this.#base = apiUrl.replace(/\/+$/, '');
    this.#key = key;
    this.#tools = tools;
  }

  /**
   * Starts an export. Retries only if the service reports that it started no job, because after a lost response, a job may be
   * running.
   */
  async start({ domain, version, paths }: ExportRequest, signal: AbortSignal): Promise<JobAnswer> {
    const call: ServiceCall<JobAnswer> = {
      act: `start an export of "${domain}"`,
      method: 'POST',
      path: '/jobs',
      body: { domain, ...(version === null ? {} : { version }), ...(paths === null ? {} : { paths }) },
      read: readJob,
      signal,
    };
    return this.#persist(call, ({ fields }) => fields.status === 429 || fields.status === 503);
  }

  async status(jobId: string, signal: AbortSignal): Promise<JobAnswer> {
    return this.#persist(statusCall(jobId, signal));
  }

  async bundle(jobId: string, signal: AbortSignal): Promise<BundleAnswer> {
    return this.#persist({
      act: `get the bundle of job "${jobId}"`,
      method: 'POST',
      path: `/jobs/${encodeURIComponent(jobId)}/bundle`,
      read: (answer) => readBundle(answer, jobId),
      signal,
    });
  }

  async report(jobId: string, signal: AbortSignal): Promise<ExportReport> {
    return this.#persist({
      act: `get the report of job "${jobId}"`,
      method: 'GET',
      path: `/jobs/${encodeURIComponent(jobId)}/report`,
      read: readReport,
      signal,
    });
  }

  /** At most 100 completed jobs, newest first. Null if the export service cannot list jobs. */
  async completedJobs(domain: string, signal: AbortSignal): Promise<readonly JobAnswer[] | null> {
    const query = new URLSearchParams({ domain, status: 'completed', limit: '100' });
    try {
      const jobs = await this.#persist({
        act: `list the exports of "${domain}"`,
        method: 'GET',
        path: `/jobs?${query}`,
        read: readJobs,
        signal,
      });
      // Filter and sort the received jobs, because a service can ignore the query parameters.
      return jobs
        .filter((job) => job.status === 'completed' && (job.domain === null || job.domain === domain))
        .toSorted((a, b) => Date.parse(b.createdAt ?? '1970') - Date.parse(a.createdAt ?? '1970'));
    } catch (error) {
      if (error instanceof DocshelfError && NO_SUCH_LIST.has(error.fields.status)) return null;
      throw error;
    }
  }

  /** @throws DocshelfError the codes of `start`; `job_failed` with the service's reason; `job_timeout` */
  async wait(jobId: string, { timeoutMs, signal, onJob }: WaitOptions): Promise<JobAnswer> {
    const { random, steadyNow } = this.#tools;
    const endMs = steadyNow() + timeoutMs;
    let answeredMs = steadyNow();
    for (;;) {
      let retryAfterMs: unknown;
      try {
        const answered = await this.#once(statusCall(jobId, signal));
        const job = answered.value;
        onJob?.(job);
        if (isTerminal(job.status)) return judged(job);
        retryAfterMs = answered.retryAfterMs;
        answeredMs = steadyNow();
      } catch (error) {
        if (!isTransient(error) || steadyNow() - answeredMs >= OUTAGE_MS_MAX) throw error;
        retryAfterMs = toDocshelfError(error).fields.retryAfterMs;
      }
      const leftMs = endMs - steadyNow();
      if (leftMs <= 0) throw timedOut(jobId, timeoutMs);
      const askedMs = typeof retryAfterMs === 'number' ? retryAfterMs : POLL_MS;
      const pollMs = Math.min(POLL_MS_MAX, Math.max(POLL_MS_MIN, askedMs)) * (1 + POLL_JITTER * random());
      // Sleep only for the remaining time and then poll a last time, because the job may have ended since the previous poll.
      await this.#tools.sleep(Math.min(pollMs, leftMs), signal).catch((reason: unknown) => {
        signal.throwIfAborted();
        throw reason;
      });
    }
  }

  async #persist<T>(call: ServiceCall<T>, mayRetry?: (error: DocshelfError) => boolean): Promise<T> {
    const plan = { retriesMax: RETRIES_MAX, signal: call.signal, mayRetry };
    return (await retry(() => this.#once(call), plan, this.#tools)).value;
  }

  async #once<T>(call: ServiceCall<T>): Promise<Answered<T>> {
    const act = `${call.act} at ${linkWithoutSecrets(this.#base).replace(/\/$/, '')}`;
    try {
      return await this.#exchange(call, act);
    } catch (error) {
      call.signal.throwIfAborted();
      if (error instanceof DocshelfError) throw error;
      throw new DocshelfError('source_timeout', `Cannot ${act}: no complete response within ${CALL_MS_MAX / 1000} s`, {
        next: 'Check the network and network.proxy, or contact the operator of the service.',
        fields: { retryable: true },
        cause: error,
      });
    }
  }

  async #exchange<T>({ method, path, body, read, signal }: ServiceCall<T>, act: string): Promise<Answered<T>> {
    const response = await this.#send(method, `${this.#base}/v1/static-export${path}`, body, signal);
    const text = await response.text(ANSWER_BYTES_MAX);
    const retryAfter = response.header('retry-after');
    const { status } = response;
    if (status < 200 || status > 299) {
      const refused = { status, body: text, retryAfter, location: response.header('location') };
      throw serviceRefusal(act, refused, this.#key, Date.now());
    }
    const value = read(jsonOf(text));
    if (value !== null) return { value, retryAfterMs: retryAfterOf(retryAfter, Date.now()) };
    throw new DocshelfError('export_service_failed', `Cannot ${act}: the response is not from an export service`, {
      next: 'Check the address of the export service. docshelf appends /v1/static-export to this address.',
      fields: { status, retryable: false },
    });
  }

  #send(method: 'GET' | 'POST', url: string, body: object | undefined, signal: AbortSignal): Promise<HttpResponse> {
    const headers = {
      accept: 'application/json, application/problem+json',
      authorization: `Bearer ${this.#key.reveal()}`,
    };
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(CALL_MS_MAX)]);
    if (method === 'GET') return this.#client.get(url, { headers, signal: bounded, redirects: 'answer' });
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const text = body === undefined ? '' : JSON.stringify(body);
    return this.#client.post(url, text, { headers: { ...headers, ...type }, signal: bounded });
  }
}

function statusCall(jobId: string, signal: AbortSignal): ServiceCall<JobAnswer> {
  const path = `/jobs/${encodeURIComponent(jobId)}`;
  return { act: `request job "${jobId}"`, method: 'GET', path, read: readJob, signal };
}

function judged(job: JobAnswer): JobAnswer {
  if (job.status === 'completed') return job;
  const reason = job.error?.replace(/\.$/, '') ?? 'the service reports no reason';
  throw new DocshelfError('job_failed', `Cannot get the export "${job.jobId}": it failed: ${reason}`, {
    next: 'Fix the reported cause, and start another export.',
    fields: { jobId: job.jobId, retryable: false },
  });
}

function timedOut(jobId: string, timeoutMs: number): DocshelfError {
  const state = `it has not ended after ${Math.round(timeoutMs / 1000)} s`;
  return new DocshelfError('job_timeout', `Cannot wait any longer for the export "${jobId}": ${state}`, {
    next: `Run "docshelf export wait ${jobId}". The export continues at the service.`,
    fields: { jobId, retryable: true },
  });
}

export interface ExportServiceSettings {
  /** Base address of the export service. docshelf appends `/v1/static-export`. */
  readonly apiUrl: string;
  /** Admin key. docshelf follows no redirects of an export service, so it sends the key only to `apiUrl`. */
  readonly key: Secret;
}

interface ExportServiceTools extends RetryTools {
  /** Time in milliseconds from a clock that no correction of the system time changes. */
  readonly steadyNow: () => number;
}

const EXPORT_SERVICE_TOOLS: ExportServiceTools = { ...RETRY_TOOLS, steadyNow: () => performance.now() };

interface ServiceCall<T> {
  readonly act: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  readonly read: (answer: unknown) => T | null;
  readonly signal: AbortSignal;
}

interface Answered<T> {
  readonly value: T;
  readonly retryAfterMs: number | null;
}

const CALL_MS_MAX = 30_000;
const ANSWER_BYTES_MAX = 1024 ** 2;

const RETRIES_MAX = 3;

type ExportCaller = Pick<ExportServiceClient, 'start' | 'wait' | 'bundle' | 'completedJobs'>;

/** Maximum wait for an export. An export takes up to one hour by default, and can wait for other exports first. */
const EXPORT_MS_MAX = 4 * 3600_000;

export function exportLinks(service: ExportCaller, settings: Pick<RenewSettings, 'domain' | 'jobId'>): LinkSource {
  const { domain, jobId: configured } = settings;
  const linkOf = async (jobId: string, signal: AbortSignal): Promise<FreshLink> => {
    const { bundleUrl, sha256, signature }: BundleAnswer = await service.bundle(jobId, signal);
    return { jobId, link: bundleUrl, sha256, signature };
  };
  return {
    freshLink: async (version, signal) => {
      if (configured !== null) return linkOf(configured, signal);
      const jobs = domain === null ? null : await service.completedJobs(domain, signal);
      const job = jobs?.find((candidate) => version === null || candidate.version === version);
      return job === undefined ? null : linkOf(job.jobId, signal);
    },
    startExport: async (version, signal) => {
      if (domain === null) {
        throw new DocshelfError('config_invalid', 'Cannot start an export: no domain is set for it', {
          next: 'Set staticExport.renew.domain.',
        });
      }
      return (await service.start({ domain, version, paths: null }, signal)).jobId;
    },
    linkWhenDone: async (jobId, signal) => {
      await service.wait(jobId, { timeoutMs: EXPORT_MS_MAX, signal });
      return linkOf(jobId, signal);
    },
  };
}
