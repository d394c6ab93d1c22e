import { createHash } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { bundleAnswer, httpServer, type LocalServer } from './local-server.ts';

/**
 * Static export service of another vendor. It has only the three calls of the published contract; `extras` adds more. Each link
 * contains the word `canary` in its query, which must never be shown.
 */
export interface VendorOptions {
  /** Bundle of a job, by the version label of its request. */
  readonly bundle: (version: string | null) => Uint8Array;
  /** Number of polls until a job ends. Default: 2. */
  readonly polls?: number;
  /** Reason with which jobs fail. */
  readonly failure?: string;
  /** Adds `sha256`, `Location`, `Retry-After`, and `GET /jobs`. */
  readonly extras?: boolean;
}

interface VendorJob {
  readonly jobId: string;
  readonly domain: string;
  readonly version: string | null;
  readonly createdAt: string;
  polls: number;
}

interface Fault {
  readonly path: RegExp;
  readonly answer: RequestListener;
  left: number;
}

export const VENDOR_KEY = 'svc_vendor-key-canary';

export class VendorService {
  readonly jobs: VendorJob[] = [];
  /** Calls in their order, as `METHOD /path`. Downloads of bundles are `GET /files/…`. */
  readonly calls: string[] = [];
  readonly bodies: unknown[] = [];
  readonly #options: VendorOptions;
  readonly #faults: Fault[] = [];
  readonly #links = new Map<string, VendorJob>();
  #server: LocalServer | null = null;

  private constructor(options: VendorOptions) {
    this.#options = options;
  }

  static async start(options: VendorOptions): Promise<VendorService> {
    const service = new VendorService(options);
    service.#server = await httpServer((request, response) => service.#answer(request, response));
    return service;
  }

  get url(): string {
    return this.#server?.origin ?? '';
  }

  get requests(): readonly IncomingMessage[] {
    return this.#server?.requests ?? [];
  }

  /** Number of calls that match. */
  count(pattern: RegExp): number {
    return this.calls.filter((call) => pattern.test(call)).length;
  }

  /** Handles the next calls of that path with `answer`. */
  fault(path: RegExp, answer: RequestListener, times = 1): void {
    this.#faults.push({ path, answer, left: times });
  }

  /** Adds a completed job. @returns its id */
  completed(version: string | null = null, domain = 'acme'): string {
    const job = this.#newJob(domain, version);
    job.polls = Number.MAX_SAFE_INTEGER;
    return job.jobId;
  }

  close(): Promise<void> {
    return this.#server?.close() ?? Promise.resolve();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://service');
    this.calls.push(`${request.method} ${url.pathname}`);
    const fault = this.#faults.find(({ path, left }) => left > 0 && path.test(`${request.method} ${url.pathname}`));
    if (fault !== undefined) {
      fault.left -= 1;
      fault.answer(request, response);
      return;
    }
    if (url.pathname.startsWith('/files/')) return this.#file(url, request, response);
    if (request.headers.authorization !== `Bearer ${VENDOR_KEY}`) return answer(response, 401, { error: 'bad key' });
    const path = url.pathname.replace('/v1/static-export', '');
    const [, , jobId, rest] = path.split('/');
    if (path === '/jobs' && request.method === 'POST') {
      const body = JSON.parse(await text(request)) as { domain: string; version?: string };
      this.bodies.push(body);
      const job = this.#newJob(body.domain, body.version ?? null);
      const extras = { Location: `http://elsewhere.invalid/jobs/${job.jobId}`, 'Retry-After': '1' };
      return answer(response, 202, this.#shown(job), this.#options.extras === true ? extras : {});
    }
    if (path === '/jobs' && this.#options.extras === true) {
      return answer(response, 200, { jobs: this.jobs.toReversed().map((job) => this.#shown(job)), nextCursor: null });
    }
    const job = this.jobs.find((candidate) => candidate.jobId === jobId);
    if (job === undefined) return answer(response, 404, { error: 'no such thing' });
    if (rest === 'bundle' && request.method === 'POST') return this.#bundle(job, response);
    job.polls += 1;
    answer(response, 200, this.#shown(job), this.#options.extras === true ? { 'Retry-After': '1' } : {});
  }

  #newJob(domain: string, version: string | null): VendorJob {
    const number = String(this.jobs.length + 1).padStart(16, '0');
    const createdAt = new Date(Date.UTC(2024, 5, 1, 0, 0, this.jobs.length)).toISOString();
    const job = { jobId: `se_${number}`, domain, version, createdAt, polls: 0 };
    this.jobs.push(job);
    return job;
  }

  #shown({ polls, ...job }: VendorJob): object {
    const { polls: pollsMax = 2, failure } = this.#options;
    const isOver = polls >= pollsMax;
    const status = !isOver ? (polls === 0 ? 'queued' : 'running') : failure === undefined ? 'completed' : 'failed';
    const progress = isOver ? 100 : (100 * polls) / pollsMax;
    const error = status === 'failed' ? failure : null;
    return { ...job, status, progress, pageCount: polls, updatedAt: job.createdAt, error };
  }

  #bundle(job: VendorJob, response: ServerResponse): void {
    const bytes = this.#options.bundle(job.version);
    const id = `canary-${this.#links.size + 1}`;
    this.#links.set(id, job);
    const name = `${job.domain}-export-${job.createdAt.slice(0, 10)}.tar.gz`;
    answer(response, 200, {
      jobId: job.jobId,
      bundleUrl: `${this.url}/files/${name}?signature=${id}`,
      sizeBytes: bytes.length,
      expiresAt: '2024-06-01T01:00:00Z',
      ...(this.#options.extras === true ? { sha256: createHash('sha256').update(bytes).digest('hex') } : {}),
    });
  }

  #file(url: URL, request: IncomingMessage, response: ServerResponse): void {
    const job = this.#links.get(url.searchParams.get('signature') ?? '');
    if (job === undefined) {
      response.writeHead(403, { 'content-type': 'application/xml' });
      response.end('<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>');
      return;
    }
    bundleAnswer(this.#options.bundle(job.version), `"${job.jobId}"`)(request, response);
  }
}

export function answer(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
