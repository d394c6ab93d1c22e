import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import type { Problem } from '../../src/domain/errors.ts';
import type { BundleLink, ExportReport, Job } from '../../src/domain/job.ts';
import { type Bench, type ConfigFile, type DaemonProcess, waitFor } from '../helpers/daemon.ts';
import { freePort } from '../helpers/free-ports.ts';
import { httpServer } from '../helpers/local-server.ts';
import { type Files, writeFiles } from '../helpers/write-files.ts';
import { sha256Of } from './bundles.ts';

/** A daemon of the service side: organizations with keys and sources, and calls of its API. */

/** One key of each type and organization. */
export const KEYS = {
  acme: 'svc_acme-admin',
  acmeAssistant: 'svc_dsc_acme-assistant',
  globex: 'svc_globex-admin',
  team: 'svc_team-admin',
} as const;

export const JOBS = '/v1/static-export/jobs';
const JOB_MS_MAX = 150_000;

/** Site with two pages, a link, a style sheet, and a file that is not a page. */
export const SITE: Files = {
  'index.html':
    '<!doctype html><html lang="en"><title>Home</title><link rel="stylesheet" href="/a.css"><main><h1>Home</h1><p>The lantern burns all night.</p><a href="/guides/start.html">Start</a></main></html>',
  'guides/start.html':
    '<!doctype html><html lang="en"><title>Start</title><main><h1 id="top">Start</h1><p>Fixing the engine of a vehicle.</p><a href="../index.html">Home</a></main></html>',
  'a.css': 'body { color: teal }\n',
  'data/notes.txt': 'ünïcode\n',
};

type Organization = { readonly id: string } & ConfigFile;

export const adminKey = (id: string, key: string) => ({ id, type: 'admin', sha256: sha256Of(key) });

/** Organization whose plan has exports. */
export const organization = (id: string, domains: ConfigFile, ...keys: readonly object[]): Organization => ({
  id,
  plan: 'enterprise',
  domains,
  keys,
});

/**
 * `acme` exports `./site`, has a domain `bare` without a source, and a key of each type. `globex` exports `./globex`. The plan
 * of `team` has no exports.
 */
export function organizations(source: ConfigFile = { kind: 'folder', path: './site' }): Organization[] {
  const other = { kind: 'folder', path: './globex' };
  const assistant = { id: 'site', type: 'assistant', sha256: sha256Of(KEYS.acmeAssistant) };
  const acme = { acme: { hosts: ['docs.acme.dev'], source }, bare: {} };
  return [
    organization('acme-inc', acme, adminKey('ci', KEYS.acme), assistant),
    organization('globex', { globex: { source: other } }, adminKey('ci', KEYS.globex)),
    { ...organization('team', { team: { source: other } }, adminKey('ci', KEYS.team)), plan: 'team' },
  ];
}

export interface CallOptions {
  readonly key?: string | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Client of the export API. */
export class ExportClient {
  readonly origin: string;
  readonly #key: string;

  constructor(origin: string, key: string = KEYS.acme) {
    this.origin = origin;
    this.#key = key;
  }

  /** The same service with another key. */
  as(key: string): ExportClient {
    return new ExportClient(this.origin, key);
  }

  /** A body of type string is sent unchanged. */
  call(method: string, path: string, { key = this.#key, body, headers = {} }: CallOptions = {}): Promise<Response> {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    return fetch(this.origin + path, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(text === undefined ? {} : { body: text }),
    });
  }

  async start(domain = 'acme', more: ConfigFile = {}): Promise<Job> {
    return answerOf<Job>(await this.call('POST', JOBS, { body: { domain, ...more } }), 202);
  }

  async job(jobId: string): Promise<Job> {
    return answerOf<Job>(await this.call('GET', `${JOBS}/${jobId}`), 200);
  }

  async jobs(query = ''): Promise<{ jobs: Job[]; nextCursor: string | null }> {
    return answerOf(await this.call('GET', `${JOBS}${query}`), 200);
  }

  async bundle(jobId: string): Promise<BundleLink> {
    return answerOf<BundleLink>(await this.call('POST', `${JOBS}/${jobId}/bundle`), 200);
  }

  async report(jobId: string): Promise<ExportReport> {
    return answerOf<ExportReport>(await this.call('GET', `${JOBS}/${jobId}/report`), 200);
  }

  async cancel(jobId: string): Promise<Job> {
    return answerOf<Job>(await this.call('DELETE', `${JOBS}/${jobId}`), 202);
  }

  /** Polls until the job meets the condition. @returns the job */
  async until(jobId: string, matches: (job: Job) => boolean, timeoutMs = JOB_MS_MAX): Promise<Job> {
    let last: Job | null = null;
    return waitFor(
      async () => {
        last = await this.job(jobId);
        return matches(last) ? last : null;
      },
      () => `the job stays ${JSON.stringify(last)}`,
      timeoutMs,
    );
  }

  /** Waits until the job has ended in any way. */
  ended(jobId: string): Promise<Job> {
    return this.until(jobId, ({ status }) => status === 'completed' || status === 'failed');
  }

  /** Starts a job, and waits until it is completed. */
  async export(domain = 'acme', more: ConfigFile = {}): Promise<Job> {
    const job = await this.ended((await this.start(domain, more)).jobId);
    expect([job.status, job.error]).toEqual(['completed', null]);
    return job;
  }

  /** Downloads the archive of a link. */
  async download(url: string): Promise<Buffer> {
    const response = await fetch(url);
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
    return Buffer.from(await response.arrayBuffer());
  }
}

/** Returns the problem in a response, with its status. */
export async function problemOf(response: Response): Promise<Problem> {
  expect(response.headers.get('content-type')).toContain('application/problem+json');
  const problem = (await response.json()) as Problem;
  expect(problem).toMatchObject({ status: response.status, detail: problem.error, requestId: expect.any(String) });
  expect(response.headers.get('x-request-id')).toBe(problem.requestId);
  return problem;
}

async function answerOf<T>(response: Response, status: number): Promise<T> {
  if (response.status !== status) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

export interface Exporter extends ExportClient {
  readonly daemon: DaemonProcess;
}

export interface ExporterOptions {
  readonly folder?: string;
  /** Files of `./site`. Default: `SITE`. */
  readonly site?: Files;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a daemon with `organizations()` and this config. */
export async function startExporter(
  bench: Bench,
  config: ConfigFile = {},
  { folder, site = SITE, env = {} }: ExporterOptions = {},
): Promise<Exporter> {
  const home = folder ?? (await bench.folder());
  await writeFiles(join(home, 'site'), site);
  await writeFiles(join(home, 'globex'), SITE);
  const port = await freePort();
  const { exportApi, ...others } = config;
  const merged = {
    deployment: { domain: 'acme' },
    staticExport: { enabled: false },
    api: { port },
    log: { access: false },
    ...('organizationsFile' in config ? {} : { organizations: organizations() }),
    exportApi: { enabled: true, ...(exportApi as ConfigFile | undefined) },
    ...others,
  };
  const daemon = await bench.start(merged, { folder: home, env });
  return exporterOf(daemon, port);
}

export function exporterOf(daemon: DaemonProcess, port: number): Exporter {
  return Object.assign(new ExportClient(`http://127.0.0.1:${port}`), { daemon });
}

/** Starts a daemon on the same folder again. */
export async function startAgain(bench: Bench, { daemon, origin }: Exporter, env = {}): Promise<Exporter> {
  return exporterOf(await bench.start(null, { folder: daemon.folder, env }), Number(new URL(origin).port));
}

/** Hosted model that does not respond until it is opened, so that jobs stay in the middle. `config` makes a daemon use it. */
export async function blockJobs(): Promise<{ readonly config: ConfigFile; open(): void }> {
  const gate = Promise.withResolvers<void>();
  const server = await httpServer(async (request, response) => {
    const { input } = JSON.parse(await text(request)) as { input: readonly string[] };
    await gate.promise;
    const data = input.map((_, index) => ({ index, embedding: Array.from({ length: 32 }, (_, at) => at + 1) }));
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ data }));
  });
  const model = { url: `${server.origin}/v1/embeddings`, model: 'held' };
  return { config: { search: { model }, network: { idleTimeout: '5m', totalTimeout: '10m' } }, open: gate.resolve };
}
